/** This package's version, which is also the tag of the proxy image made from the same source. */
export const version = "0.2.0";

export const proxyImageRepository = "ghcr.io/controlplane-com/scale-to-zero-proxy";

/** The proxy that this version of the component was tested with. */
export const defaultImage = `${proxyImageRepository}:${version}`;
