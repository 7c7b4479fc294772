//! The one kind of lock that is used here. The thread sanitizer sees only what is compiled with it, which the standard
//! library is not: under `cfg(watched)` the lock is one that it can follow.

#[cfg(watched)]
pub use parking_lot::{Mutex, MutexGuard};
#[cfg(not(watched))]
pub use std::sync::{Mutex, MutexGuard};

#[cfg(watched)]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(not(watched))]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under a lock has ended the process, but in tests.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
