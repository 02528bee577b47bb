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
pub(crate) struct Held {
    all: Arc<Semaphore>,
    units: OwnedSemaphorePermit,
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl Memory {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Semaphore::new(limits.bodies.max(limits.body).div_ceil(UNIT))))
    }

    /// Memory for a body, once there is enough.
    pub(crate) async fn take(&self, bytes: usize) -> Result<Held, Refusal> {
        let units = Arc::clone(&self.0).acquire_many_owned(units(bytes)).await;
        let units = units.map_err(|_| Refusal::busy("the server ends"))?;
        Ok(Held { all: Arc::clone(&self.0), units })
    }

    /// Whether no request holds any.
    #[cfg(test)]
    pub(crate) fn is_free(&self, limits: &Limits) -> bool {
        self.0.available_permits() == limits.bodies.max(limits.body).div_ceil(UNIT)
    }
}

impl Held {
    /// More memory for the same request. It is there or not: who waits here could wait for others that wait too.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        match Arc::clone(&self.all).try_acquire_many_owned(units(bytes)) {
            Ok(more) => {
                self.units.merge(more);
                Ok(())
            }
            Err(_) => Err(Refusal::busy("other requests have all the memory; send it again later")),
        }
    }
}
