//! A mutex that a panic does not poison.

use std::sync::{self, MutexGuard, PoisonError, TryLockError};

/// A mutex that stays usable after a panic of the thread that held it.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex around a value.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits for the value.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value; `None` if it is locked.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_can_be_locked_after_a_panic_in_a_thread_that_held_it() {
        let mutex = Mutex::new(1);
        let panics = || {
            let _value = mutex.lock();
            panic!("while it is locked");
        };
        std::thread::scope(|scope| assert!(scope.spawn(panics).join().is_err()));
        assert_eq!(mutex.try_lock().as_deref(), Some(&1));
        assert_eq!(*mutex.lock(), 1);
        let _value = mutex.lock();
        assert!(mutex.try_lock().is_none(), "it is locked");
    }
}
