/** Whether a lookup failed because what it asked for is not there. The provider says so in words alone. */
export const isAbsence = (error: unknown): boolean => /\b404\b|not found|does not exist/i.test(String(error));
