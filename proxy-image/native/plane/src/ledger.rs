//! Ids and counters. An id is never used twice: its low bits are a slot, which is, and the rest counts up. So whatever
//! arrives late for a pair that is gone finds nothing, instead of the pair that has its slot now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::sync::{Mutex, MutexGuard, lock};

const SLOT_BITS: u32 = 20;
pub const SLOTS: usize = 1 << SLOT_BITS;
const PAGE: usize = 128;

/// Bytes delivered so far, and for how long none has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub up: u64,
    pub down: u64,
    pub idle_ms: u64,
}

pub fn slot_of(id: u64) -> usize {
    (id as usize) & (SLOTS - 1)
}

/// Written by the plane's thread alone, read by any.
#[derive(Default)]
struct Cell {
    /// 0 while the slot is free.
    id: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
    active_ms: AtomicU64,
}

type Page = [Cell; PAGE];

/// A pair's own cell. Pages are never given back, so that a cell stays where it is.
pub struct Meter {
    page: Arc<Page>,
    index: u8,
}

impl Meter {
    pub fn write(&self, up: u64, down: u64, now_ms: u64) {
        let cell = self.cell();
        cell.up.store(up, Relaxed);
        cell.down.store(down, Relaxed);
        cell.active_ms.store(now_ms, Relaxed);
    }

    fn cell(&self) -> &Cell {
        &self.page[self.index as usize]
    }
}

#[derive(Default)]
struct Slots {
    pages: Vec<Arc<Page>>,
    free: Vec<u32>,
    claimed: u64,
}

#[derive(Default)]
pub struct Ledger {
    slots: Mutex<Slots>,
    pub live: AtomicU32,
    pub pipes: AtomicU32,
    pub idle_pipes: AtomicU32,
    /// Delivered by all pairs together since the start.
    pub up: AtomicU64,
    pub down: AtomicU64,
}

impl Ledger {
    /// A new id with its counters at zero. `None` where a million pairs are live.
    pub fn claim(&self, now_ms: u64) -> Option<(u64, Meter)> {
        let mut slots = self.slots();
        let slot = match slots.free.pop() {
            Some(slot) => slot as usize,
            None => {
                let slot = slots.pages.len() * PAGE;
                if slot == SLOTS {
                    return None;
                }
                slots.pages.push(Arc::new(std::array::from_fn(|_| Cell::default())));
                slots.free.extend((slot + 1..slot + PAGE).rev().map(|each| each as u32));
                slot
            }
        };
        slots.claimed += 1;
        let id = (slots.claimed << SLOT_BITS) | slot as u64;
        let meter = Meter { page: slots.pages[slot / PAGE].clone(), index: (slot % PAGE) as u8 };
        drop(slots);
        meter.write(0, 0, now_ms);
        meter.cell().id.store(id, Relaxed);
        self.live.fetch_add(1, Relaxed);
        Some((id, meter))
    }

    pub fn release(&self, id: u64, meter: &Meter) {
        meter.cell().id.store(0, Relaxed);
        self.slots().free.push(slot_of(id) as u32);
        self.live.fetch_sub(1, Relaxed);
    }

    /// `None` once the pair has ended. Each figure is right; together they may be a turn apart.
    pub fn read(&self, id: u64, now_ms: u64) -> Option<Counts> {
        let slot = slot_of(id);
        let page = self.slots().pages.get(slot / PAGE)?.clone();
        let cell = &page[slot % PAGE];
        if id == 0 || cell.id.load(Relaxed) != id {
            return None;
        }
        let active_ms = cell.active_ms.load(Relaxed);
        Some(Counts {
            up: cell.up.load(Relaxed),
            down: cell.down.load(Relaxed),
            idle_ms: now_ms.saturating_sub(active_ms),
        })
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        lock(&self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_used_twice() {
        let ledger = Ledger::default();
        let (first, meter) = ledger.claim(0).unwrap();
        ledger.release(first, &meter);
        let (second, _meter) = ledger.claim(0).unwrap();
        assert_eq!(slot_of(first), slot_of(second));
        assert_ne!(first, second);
        assert_eq!(ledger.read(first, 0), None);
        assert_eq!(ledger.read(second, 7), Some(Counts { up: 0, down: 0, idle_ms: 7 }));
    }

    #[test]
    fn slots_grow_by_pages_and_are_all_different() {
        let ledger = Ledger::default();
        let claims: Vec<_> = (0..PAGE * 3 + 1).map(|_| ledger.claim(0).unwrap()).collect();
        let slots: std::collections::HashSet<_> = claims.iter().map(|(id, _)| slot_of(*id)).collect();
        assert_eq!(slots.len(), claims.len());
        assert_eq!(slots.iter().max(), Some(&(PAGE * 3)));
        assert_eq!(ledger.live.load(Relaxed) as usize, claims.len());
    }

    #[test]
    fn strange_ids_are_nobody() {
        let ledger = Ledger::default();
        let (id, _meter) = ledger.claim(0).unwrap();
        for stranger in [0, 1, id + 1, id + (1 << SLOT_BITS), u64::MAX] {
            assert_eq!(ledger.read(stranger, 0), None);
        }
    }
}
