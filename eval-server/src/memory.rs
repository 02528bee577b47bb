//! The memory for bodies: how much all requests in work have together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::refusal::Refusal;

/// The unit in which memory is given away.
const UNIT: usize = 1024;

/// The memory for bodies, in units.
#[derive(Debug)]
pub(crate) struct Memory(Arc<Semaphore>);

/// Memory of one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    all: Arc<Semaphore>,
    bytes: usize,
    units: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Semaphore::new(limits.bodies.max(limits.body).div_ceil(UNIT))))
    }

    /// The memory of a request that has none so far.
    pub(crate) fn of_request(&self) -> HeldMemory {
        HeldMemory { all: Arc::clone(&self.0), bytes: 0, units: None }
    }

    /// Whether no request holds any.
    #[cfg(test)]
    pub(crate) fn is_free(&self, limits: &Limits) -> bool {
        self.0.available_permits() == limits.bodies.max(limits.body).div_ceil(UNIT)
    }
}

impl HeldMemory {
    /// Memory for more bytes. It is there or not: who waits here could wait for others that wait too.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes);
        let has = self.units.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let lacks = self.bytes.div_ceil(UNIT).saturating_sub(has);
        if lacks == 0 {
            return Ok(());
        }
        let lacks = u32::try_from(lacks).unwrap_or(u32::MAX);
        match (Arc::clone(&self.all).try_acquire_many_owned(lacks), &mut self.units) {
            (Ok(more), Some(units)) => units.merge(more),
            (Ok(first), none) => *none = Some(first),
            (Err(_), _) => {
                return Err(Refusal::busy("other requests have all the memory; send it again later"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_memory_of_what_they_hold_until_they_end() {
        let limits = Limits::default().body(16 << 10);
        let memory = Memory::new(&limits);
        let mut one = memory.of_request();
        // Little pieces count as what they are together.
        for _ in 0..4096 {
            one.grow(1).unwrap();
        }
        let mut rest: Vec<HeldMemory> = (0..16).map(|_| memory.of_request()).collect();
        let given = rest.iter_mut().filter_map(|held| held.grow(16 << 10).ok()).count();
        assert_eq!(given, 15, "4 KiB of the 256 are taken");
        assert!(one.grow(16 << 10).is_err());
        drop((one, rest));
        assert!(memory.is_free(&limits));
    }
}
