//! Blocks of work over threads that live as long as the call.
//!
//! There is no global pool, which would hang in a child made by `fork`, and nothing to steal between workers that take
//! blocks off one counter: scoped threads of the standard library are all it takes. The calling thread is one of the
//! workers, so a small call starts no other. It hands the results on in block order, and whenever a kernel asks
//! between two pieces of its work whether to stop, and every 50 ms at most, it looks whether the caller wants that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often the calling thread looks whether to stop, at most.
const GLANCE: Duration = Duration::from_millis(50);

/// A call is worth another thread for every so much of its cost (in additions, roughly): starting one takes as long.
const WORTH_A_THREAD: u64 = 1 << 19;

/// The work, in additions, between two questions of [`Patience`]: less than a millisecond.
const PATIENCE: usize = 1 << 18;

/// How a long call is run and watched.
pub struct Run<'a> {
    /// The number of threads; 0 for one per available core.
    pub threads: usize,
    /// Called now and then with the number of finished items; an error stops the call and is handed back.
    pub watch: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl Run<'_> {
    /// Does what precedes the work whose items are counted: heeds the watcher, but has nothing finished to tell.
    pub fn before<T>(&mut self, body: impl FnOnce(&mut Run<'_>) -> Result<T>) -> Result<T> {
        let Run { threads, watch } = self;
        body(&mut Run { threads: *threads, watch: &mut |_| watch(0) })
    }

    /// Calls `body` with every item in turn, on this thread, and looks now and then whether the caller wants to stop.
    ///
    /// # Errors
    /// What `watch` returned.
    pub fn each(&mut self, items: Range<usize>, mut body: impl FnMut(usize)) -> Result<()> {
        let mut looked = Instant::now();
        for (done, item) in items.enumerate() {
            if done % 64 == 0 && looked.elapsed() >= GLANCE {
                (self.watch)(done as u64)?;
                looked = Instant::now();
            }
            body(item);
        }
        Ok(())
    }
}

/// Tells a worker to stop early.
pub struct Stop<'a> {
    flag: &'a AtomicBool,
    /// On the calling thread: looks whether the caller wants to stop.
    look: Option<&'a dyn Fn()>,
}

impl Stop<'_> {
    /// Has the call been given up? Kernels ask between pieces of a block that take milliseconds at most.
    #[inline]
    pub fn requested(&self) -> bool {
        if let Some(look) = self.look {
            look();
        }
        self.flag.load(Ordering::Relaxed)
    }

    /// For tests of what is never told to stop.
    #[cfg(test)]
    pub(crate) fn never() -> Stop<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Stop { flag: &NEVER, look: None }
    }
}

/// Asks whether to stop every so often: for loops whose turns take less time than to ask.
#[derive(Default)]
pub(crate) struct Patience(usize);

impl Patience {
    /// Does some more work, in additions, roughly.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the call has been given up.
    #[inline]
    pub(crate) fn spend(&mut self, cost: usize, stop: &Stop<'_>) -> Result<()> {
        self.0 += cost;
        if self.0 < PATIENCE {
            return Ok(());
        }
        self.0 = 0;
        if stop.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Stops all workers when one of them panics, so that the panic comes out soon.
struct StopAllOnPanic<'a>(&'a AtomicBool);

impl Drop for StopAllOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
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

    fn range(&self, block: usize) -> Range<usize> {
        block * self.size..((block + 1) * self.size).min(self.items)
    }
}

/// Runs `work` on every block and hands the results to `sink` in block order.
///
/// `work` gives `None` when it stopped early because [`Stop::requested`].
///
/// # Errors
/// What `run.watch` returned, or [`Error::Threads`] when the threads cannot be started.
pub fn run<T: Send>(
    blocks: Blocks,
    run: &mut Run<'_>,
    work: impl Fn(Range<usize>, &Stop<'_>) -> Option<T> + Sync,
    mut sink: impl FnMut(Range<usize>, T),
) -> Result<()> {
    let (flag, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let claim = || {
        let block = next.fetch_add(1, Ordering::Relaxed);
        (block < blocks.count()).then_some(block)
    };
    let cost = (blocks.items as u64).saturating_mul(blocks.cost);
    let worth = usize::try_from(cost / WORTH_A_THREAD).unwrap_or(usize::MAX).saturating_add(1);
    let others = resolve(run.threads).min(blocks.count()).min(worth).saturating_sub(1);
    let (sender, receiver) = mpsc::sync_channel(4 * others.max(1));

    let (looked, items, given_up) = (Cell::new(Instant::now()), Cell::new(0), RefCell::new(None));
    let watch = RefCell::new(&mut run.watch);
    let look_now = || {
        looked.set(Instant::now());
        if given_up.borrow().is_none()
            && let Err(reason) = (watch.borrow_mut())(items.get())
        {
            flag.store(true, Ordering::Relaxed);
            given_up.replace(Some(reason));
        }
    };
    let look = || {
        if looked.get().elapsed() >= GLANCE {
            look_now();
        }
    };
    let mut early = BTreeMap::new();
    let mut expected = 0;
    let mut deliver = |block, done| {
        early.insert(block, done);
        while let Some(done) = early.remove(&expected) {
            sink(blocks.range(expected), done);
            items.set(items.get() + blocks.range(expected).len() as u64);
            expected += 1;
        }
    };

    std::thread::scope(|scope| {
        // Dropped when this closure ends, even by a panic: no worker may wait for ever to hand over a result.
        let receiver = receiver;
        let _guard = StopAllOnPanic(&flag);
        for i in 0..others {
            let (sender, flag, claim, work) = (sender.clone(), &flag, &claim, &work);
            let worker = move || {
                let _guard = StopAllOnPanic(flag);
                let stop = Stop { flag, look: None };
                while !stop.requested()
                    && let Some(block) = claim()
                    && let Some(done) = work(blocks.range(block), &stop)
                    && sender.send((block, done)).is_ok()
                {}
            };
            let spawned = std::thread::Builder::new().name(format!("reshuffle-{i}")).spawn_scoped(scope, worker);
            if let Err(reason) = spawned {
                flag.store(true, Ordering::Relaxed);
                return Err(Error::Threads { threads: others + 1, reason: reason.to_string() });
            }
        }
        drop(sender);

        let stop = Stop { flag: &flag, look: Some(&look) };
        while !stop.requested()
            && let Some(block) = claim()
            && let Some(done) = work(blocks.range(block), &stop)
        {
            deliver(block, done);
            receiver.try_iter().for_each(|(block, done)| deliver(block, done));
        }
        loop {
            match receiver.recv_timeout(GLANCE) {
                Ok((block, done)) => deliver(block, done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            look();
        }
        look_now();
        given_up.take().map_or(Ok(()), Err)
    })
}

/// The number of threads that 0 stands for: what the scheduler lets this process use.
pub fn resolve(threads: usize) -> usize {
    NonZeroUsize::new(threads).or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of an item that is worth a thread of its own.
    const LARGE: u64 = WORTH_A_THREAD;

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
                assert_eq!(expected, sum_of_squares(threads, size, LARGE));
                assert_eq!(expected, sum_of_squares(threads, size, 0));
            }
        }
    }

    #[test]
    fn a_watcher_that_objects_stops_the_call_soon() {
        let mut watch = |_| Err(Error::Interrupted);
        let begun = Instant::now();
        let got = run(
            Blocks { items: 2, size: 1, cost: LARGE },
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
    fn a_panic_in_any_worker_ends_the_call() {
        for culprit in [0, 1, 57] {
            let outcome = std::panic::catch_unwind(|| {
                let mut run_ = Run { threads: 3, watch: &mut |_| Ok(()) };
                let work = |range: Range<usize>, _: &Stop<'_>| {
                    assert_ne!(culprit, range.start, "this panic is part of the test");
                    Some(())
                };
                run(Blocks { items: usize::MAX / 2, size: 1, cost: LARGE }, &mut run_, work, |_, ()| {})
            });
            assert!(outcome.is_err());
        }
    }

    #[test]
    fn what_precedes_the_work_can_be_stopped_and_tells_no_progress() {
        let mut seen = Vec::new();
        let mut watch = |done| {
            seen.push(done);
            if seen.len() < 3 { Ok(()) } else { Err(Error::Interrupted) }
        };
        let mut run_ = Run { threads: 2, watch: &mut watch };
        let mut items = 0;
        let outcome = run_.before(|run_| {
            run(Blocks { items: 100, size: 9, cost: 0 }, run_, |_, _| Some(()), |_, ()| {})?;
            run_.each(0..usize::MAX, |_| {
                items += 1;
                std::thread::sleep(Duration::from_millis(1));
            })
        });
        assert_eq!((Err(Error::Interrupted), [0, 0, 0].as_slice()), (outcome, seen.as_slice()));
        assert!((64..1000).contains(&items), "{items}");
    }

    #[test]
    fn patience_ends_once_a_stop_is_requested() {
        let flag = AtomicBool::new(false);
        let stop = Stop { flag: &flag, look: None };
        let mut patience = Patience::default();
        (0..10).for_each(|_| patience.spend(PATIENCE, &stop).unwrap());
        flag.store(true, Ordering::Relaxed);
        let outcomes = [1, 2].map(|_| patience.spend(PATIENCE / 2, &stop));
        assert_eq!([Ok(()), Err(Error::Interrupted)], outcomes);
    }

    #[test]
    fn the_watcher_sees_the_last_item() {
        for cost in [0, LARGE] {
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
