//! Blocks of work over a pool that lives as long as the call.
//!
//! There is no global pool: rayon's hangs in a child made by `fork`. The calling thread does no work of its own, it
//! hands the results on in block order and looks every [`GLANCE`] whether it should stop.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often the calling thread looks up from waiting.
const GLANCE: Duration = Duration::from_millis(50);

/// Below this cost (in additions, roughly) a call runs on the calling thread: starting threads would take longer.
const SMALL: u64 = 1 << 20;

/// How a long call is run and watched.
pub struct Run<'a> {
    /// The number of threads; 0 for one per available core.
    pub threads: usize,
    /// Called now and then with the number of finished items; an error stops the call and is handed back.
    pub watch: &'a mut dyn FnMut(u64) -> Result<()>,
}

/// Tells the workers to stop early.
pub struct Stop(AtomicBool);

impl Stop {
    /// Has the call been given up? Kernels ask between pieces of a block.
    #[inline]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A range of items cut into blocks.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// How many items there are.
    pub items: usize,
    /// How many go into one block; the last may be shorter.
    pub size: usize,
    /// What one item costs, in additions, roughly.
    pub cost: u64,
}

impl Blocks {
    fn count(&self) -> usize {
        self.items.div_ceil(self.size)
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        block * self.size..((block + 1) * self.size).min(self.items)
    }
}

/// Runs `work` on every block and hands the results to `sink` in block order.
///
/// `work` gives `None` when it stopped early because [`Stop::requested`].
///
/// # Errors
/// What `run.watch` returned, or [`Error::Threads`] when the pool cannot be made.
pub fn run<T: Send>(
    blocks: Blocks,
    run: &mut Run<'_>,
    work: impl Fn(std::ops::Range<usize>, &Stop) -> Option<T> + Sync,
    mut sink: impl FnMut(std::ops::Range<usize>, T),
) -> Result<()> {
    let stop = Stop(AtomicBool::new(false));
    if (blocks.items as u64).saturating_mul(blocks.cost) < SMALL {
        for block in 0..blocks.count() {
            let done = work(blocks.range(block), &stop).expect("nobody asked to stop");
            sink(blocks.range(block), done);
        }
        return (run.watch)(blocks.items as u64);
    }

    let threads = resolve(run.threads).min(blocks.count());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("reshuffle-{i}"))
        .build()
        .map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(4 * threads);

    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            scope.spawn(move |_| {
                while !stop.requested() {
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    if block >= blocks.count() {
                        return;
                    }
                    let Some(done) = work(blocks.range(block), stop) else { return };
                    if sender.send((block, done)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);

        let mut early = BTreeMap::new();
        let (mut expected, mut items) = (0, 0);
        let mut looked = Instant::now();
        let mut given_up = None;
        loop {
            match receiver.recv_timeout(GLANCE) {
                Ok((block, done)) if given_up.is_none() => {
                    early.insert(block, done);
                    while let Some(done) = early.remove(&expected) {
                        items += blocks.range(expected).len() as u64;
                        sink(blocks.range(expected), done);
                        expected += 1;
                    }
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if given_up.is_none() && (looked.elapsed() >= GLANCE || expected == blocks.count()) {
                looked = Instant::now();
                if let Err(reason) = (run.watch)(items) {
                    stop.0.store(true, Ordering::Relaxed);
                    given_up = Some(reason);
                }
            }
        }
        given_up.map_or(Ok(()), Err)
    })
}

/// The number of threads that 0 stands for: what the scheduler lets this process use.
pub fn resolve(threads: usize) -> usize {
    NonZeroUsize::new(threads).or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of_squares(threads: usize, size: usize, cost: u64) -> Vec<usize> {
        let mut out = Vec::new();
        let mut watch = |_| Ok(());
        run(
            Blocks { items: 1000, size, cost },
            &mut Run { threads, watch: &mut watch },
            |range, _| Some(range.map(|i| i * i).collect::<Vec<_>>()),
            |_, part| out.extend(part),
        )
        .unwrap();
        out
    }

    #[test]
    fn results_arrive_in_order_for_any_number_of_threads_and_any_block_size() {
        let expected: Vec<usize> = (0..1000).map(|i| i * i).collect();
        for threads in [1, 2, 3, 8] {
            for size in [1, 7, 1000, 5000] {
                assert_eq!(expected, sum_of_squares(threads, size, SMALL));
                assert_eq!(expected, sum_of_squares(threads, size, 0));
            }
        }
    }

    #[test]
    fn a_watcher_that_objects_stops_the_call_soon() {
        let mut watch = |_| Err(Error::Interrupted);
        let begun = Instant::now();
        let got = run(
            Blocks { items: 2, size: 1, cost: SMALL },
            &mut Run { threads: 2, watch: &mut watch },
            |_, stop| {
                while !stop.requested() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                None::<()>
            },
            |_, ()| {},
        );
        assert_eq!(Err(Error::Interrupted), got);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn the_watcher_sees_the_last_item() {
        for cost in [0, SMALL] {
            let mut seen = 0;
            let mut watch = |done| {
                seen = done;
                Ok(())
            };
            let mut run_ = Run { threads: 2, watch: &mut watch };
            run(Blocks { items: 100, size: 9, cost }, &mut run_, |_, _| Some(()), |_, ()| {}).unwrap();
            assert_eq!(100, seen);
        }
    }
}
