//! Blocks of work over threads that live as long as the call.
//!
//! There is no global pool, which would hang in a child made by `fork`, and nothing to steal between workers that take
//! blocks off one counter: scoped threads of the standard library are all it takes. The calling thread is one of the
//! workers, so a small call starts no other. It hands the results on in block order, and whenever a kernel asks
//! between two pieces of its work whether to stop, and every 50 ms at most, it looks whether the caller wants that.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering::{self as Order, Less};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often the calling thread looks whether to stop, at most.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A call is worth another thread for every so much of its cost (in additions, roughly): starting one takes as long.
const WORK_PER_THREAD: u64 = 1 << 19;

/// The work, in additions, between two questions of [`WorkMeter`]: less than a millisecond.
const WORK_PER_POLL: usize = 1 << 18;

/// How a long call is run and watched.
pub struct Run<'a> {
    /// The number of threads; 0 for one per available core.
    pub threads: usize,
    /// Called now and then with the number of finished items; an error stops the call and is handed back.
    pub watch: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl Run<'_> {
    /// Does what precedes the work whose items are counted: heeds the watcher, but has nothing finished to tell.
    pub fn without_progress<T>(&mut self, body: impl FnOnce(&mut Run<'_>) -> Result<T>) -> Result<T> {
        let Run { threads, watch } = self;
        body(&mut Run { threads: *threads, watch: &mut |_| watch(0) })
    }

    /// Does work that is not divided into blocks, on this thread alone. `body` asks [`Stop`] now and then and keeps the
    /// number of finished items in the cell.
    ///
    /// # Errors
    /// What `watch` returned, or what `body` did.
    pub fn serial<T>(&mut self, body: impl FnOnce(&Stop<'_>, &Cell<u64>) -> Result<T>) -> Result<T> {
        let (flag, done) = (AtomicBool::new(false), Cell::new(0));
        let watcher = Watcher::new(&mut *self.watch, &flag, &done);
        let outcome = body(&Stop { flag: &flag, poll: Some(&|| watcher.poll()) }, &done);
        watcher.poll_now();
        watcher.outcome()?;
        outcome
    }
}

/// Lets the calling thread check whether its caller wants to stop.
struct Watcher<'a> {
    watch: RefCell<&'a mut dyn FnMut(u64) -> Result<()>>,
    flag: &'a AtomicBool,
    done: &'a Cell<u64>,
    last_poll: Cell<Instant>,
    stopped_by: RefCell<Option<Error>>,
}

impl<'a> Watcher<'a> {
    fn new(watch: &'a mut dyn FnMut(u64) -> Result<()>, flag: &'a AtomicBool, done: &'a Cell<u64>) -> Self {
        let (watch, stopped_by) = (RefCell::new(watch), RefCell::new(None));
        Watcher { watch, flag, done, last_poll: Cell::new(Instant::now()), stopped_by }
    }

    /// Checks if the last check is long enough ago.
    fn poll(&self) {
        if self.last_poll.get().elapsed() >= POLL_INTERVAL {
            self.poll_now();
        }
    }

    fn poll_now(&self) {
        self.last_poll.set(Instant::now());
        if self.stopped_by.borrow().is_none()
            && let Err(reason) = (self.watch.borrow_mut())(self.done.get())
        {
            self.flag.store(true, Ordering::Relaxed);
            self.stopped_by.replace(Some(reason));
        }
    }

    fn outcome(&self) -> Result<()> {
        self.stopped_by.take().map_or(Ok(()), Err)
    }
}

/// Tells a worker to stop early.
pub struct Stop<'a> {
    flag: &'a AtomicBool,
    /// On the calling thread: looks whether the caller wants to stop.
    poll: Option<&'a dyn Fn()>,
}

impl Stop<'_> {
    /// Has the call been given up? Kernels ask between pieces of a block that take milliseconds at most.
    #[inline]
    pub fn requested(&self) -> bool {
        if let Some(poll) = self.poll {
            poll();
        }
        self.flag.load(Ordering::Relaxed)
    }

    /// For tests of what is never told to stop.
    #[cfg(test)]
    pub(crate) fn never() -> Stop<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Stop { flag: &NEVER, poll: None }
    }
}

/// Asks whether to stop every so often: for loops whose turns take less time than to ask.
#[derive(Default)]
pub(crate) struct WorkMeter(usize);

impl WorkMeter {
    /// Does some more work, in additions, roughly.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the call has been given up.
    #[inline]
    pub(crate) fn charge(&mut self, cost: usize, stop: &Stop<'_>) -> Result<()> {
        self.0 += cost;
        if self.0 < WORK_PER_POLL {
            return Ok(());
        }
        self.0 = 0;
        if stop.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The length of the pieces in which long sequences are processed: a few milliseconds at most for any operation.
pub(crate) const PIECE: usize = 1 << 16;

/// Sorts as `sort_unstable_by`, but can be interrupted: pieces are sorted and then merged. Equal values may come in any
/// order. What is no longer than a piece is sorted at once.
///
/// # Errors
/// [`Error::Interrupted`] if the call has been given up, [`Error::Memory`] if there is no room to merge.
pub(crate) fn sort<T: Copy>(values: &mut Vec<T>, order: impl Fn(&T, &T) -> Order, stop: &Stop<'_>) -> Result<()> {
    let length = values.len();
    for piece in values.chunks_mut(PIECE) {
        if length > PIECE && stop.requested() {
            return Err(Error::Interrupted);
        }
        piece.sort_unstable_by(&order);
    }
    if length <= PIECE {
        return Ok(());
    }
    let mut merged = Vec::new();
    merged.try_reserve_exact(length).map_err(|_| Error::Memory { numbers: length as u128 })?;
    let mut meter = WorkMeter::default();
    let mut sorted = PIECE;
    while sorted < length {
        merged.clear();
        for pair in values.chunks(2 * sorted) {
            let (mut left, mut right) = pair.split_at(sorted.min(pair.len()));
            while let ([first_left, ..], [first_right, ..]) = (left, right) {
                meter.charge(8, stop)?;
                let from = if order(first_right, first_left) == Less { &mut right } else { &mut left };
                merged.push(from[0]);
                *from = &from[1..];
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(values, &mut merged);
        sorted *= 2;
    }
    Ok(())
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
    /// By how many items the first block is shorter than the others: so blocks can begin at multiples of their size.
    pub lead: usize,
}

impl Blocks {
    fn count(&self) -> usize {
        (self.lead + self.items).div_ceil(self.size)
    }

    fn range(&self, block: usize) -> Range<usize> {
        let start = block * self.size;
        start.saturating_sub(self.lead)..start.saturating_add(self.size - self.lead).min(self.items)
    }
}

/// Runs `work` on every block and hands the results to `sink` in block order. `work` gets what `state` made for its thread.
///
/// `work` gives `None` when it stopped early because [`Stop::requested`], or because nothing more is wanted; blocks that
/// were begun before may still be handed to `sink`, as long as none before them is missing. A `sink` whose work may take
/// long asks its [`Stop`], too.
///
/// # Errors
/// What `run.watch` returned, or [`Error::Threads`] when the threads cannot be started.
pub fn run<S, T: Send>(
    blocks: Blocks,
    run: &mut Run<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<usize>, &Stop<'_>) -> Option<T> + Sync,
    mut sink: impl FnMut(Range<usize>, T, &Stop<'_>),
) -> Result<()> {
    let cost = (blocks.items as u64).saturating_mul(blocks.cost);
    let worth = usize::try_from(cost / WORK_PER_THREAD).unwrap_or(usize::MAX).saturating_add(1);
    let others = thread_count(run.threads).min(blocks.count()).min(worth).saturating_sub(1);
    let (flag, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let items = Cell::new(0);
    let watcher = Watcher::new(&mut *run.watch, &flag, &items);
    let poll = || watcher.poll();
    let stop = Stop { flag: &flag, poll: Some(&poll) };
    if others == 0 {
        // Nothing that small work would have to wait for.
        let mut state = state();
        for range in (0..blocks.count()).map(|block| blocks.range(block)) {
            if stop.requested() {
                break;
            }
            let Some(done) = work(&mut state, range.clone(), &stop) else { break };
            items.set(items.get() + range.len() as u64);
            sink(range, done, &stop);
        }
        watcher.poll_now();
        return watcher.outcome();
    }
    let claim = || {
        let block = next.fetch_add(1, Ordering::Relaxed);
        (block < blocks.count()).then_some(block)
    };
    let (sender, receiver) = mpsc::sync_channel(4 * others);
    let mut early = BTreeMap::new();
    let mut expected = 0;
    let mut deliver = |block, done| {
        early.insert(block, done);
        while let Some(done) = early.remove(&expected) {
            sink(blocks.range(expected), done, &stop);
            items.set(items.get() + blocks.range(expected).len() as u64);
            expected += 1;
        }
    };

    std::thread::scope(|scope| {
        // Dropped when this closure ends, even by a panic: no worker may wait for ever to hand over a result.
        let receiver = receiver;
        let _guard = StopAllOnPanic(&flag);
        for i in 0..others {
            let (sender, flag, claim, state, work) = (sender.clone(), &flag, &claim, &state, &work);
            let worker = move || {
                let _guard = StopAllOnPanic(flag);
                let stop = Stop { flag, poll: None };
                let mut state = state();
                while !stop.requested()
                    && let Some(block) = claim()
                    && let Some(done) = work(&mut state, blocks.range(block), &stop)
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

        let mut state = state();
        while !stop.requested()
            && let Some(block) = claim()
            && let Some(done) = work(&mut state, blocks.range(block), &stop)
        {
            deliver(block, done);
            receiver.try_iter().for_each(|(block, done)| deliver(block, done));
        }
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok((block, done)) => deliver(block, done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            poll();
        }
        watcher.poll_now();
        watcher.outcome()
    })
}

/// The number of threads that 0 stands for: what the scheduler let this process use when it was first asked. Asking again
/// takes system calls and files of the control group, as long as a small problem does.
pub fn thread_count(threads: usize) -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if threads == 0 { *AVAILABLE.get_or_init(available) } else { threads }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of an item that is worth a thread of its own.
    const LARGE: u64 = WORK_PER_THREAD;

    fn sum_of_squares(threads: usize, size: usize, cost: u64) -> Vec<usize> {
        let mut out = Vec::new();
        let mut watch = |_| Ok(());
        run(
            Blocks { items: 1000, size, cost, lead: 0 },
            &mut Run { threads, watch: &mut watch },
            || (),
            |(), range, _| Some(range.map(|i| i * i).collect::<Vec<_>>()),
            |_, part, _| out.extend(part),
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
            Blocks { items: 2, size: 1, cost: LARGE, lead: 0 },
            &mut Run { threads: 2, watch: &mut watch },
            || (),
            |(), _, stop| {
                while !stop.requested() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                None::<()>
            },
            |_, (), _| {},
        );
        assert_eq!(Err(Error::Interrupted), got);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_panic_in_any_worker_ends_the_call() {
        for culprit in [0, 1, 57] {
            let outcome = std::panic::catch_unwind(|| {
                let mut run_ = Run { threads: 3, watch: &mut |_| Ok(()) };
                let work = |_: &mut (), range: Range<usize>, _: &Stop<'_>| {
                    assert_ne!(culprit, range.start, "this panic is part of the test");
                    Some(())
                };
                run(
                    Blocks { items: usize::MAX / 2, size: 1, cost: LARGE, lead: 0 },
                    &mut run_,
                    || (),
                    work,
                    |_, (), _| {},
                )
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
        let outcome = run_.without_progress(|run_| {
            run(Blocks { items: 100, size: 9, cost: 0, lead: 0 }, run_, || (), |(), _, _| Some(()), |_, (), _| {})?;
            run_.serial(|stop, done| {
                while !stop.requested() {
                    items += 1;
                    done.set(items);
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err::<(), _>(Error::Interrupted)
            })
        });
        assert_eq!((Err(Error::Interrupted), [0, 0, 0].as_slice()), (outcome, seen.as_slice()));
        assert!((2..1000).contains(&items), "{items}");
    }

    #[test]
    fn patience_ends_once_a_stop_is_requested() {
        let flag = AtomicBool::new(false);
        let stop = Stop { flag: &flag, poll: None };
        let mut meter = WorkMeter::default();
        (0..10).for_each(|_| meter.charge(WORK_PER_POLL, &stop).unwrap());
        flag.store(true, Ordering::Relaxed);
        let outcomes = [1, 2].map(|_| meter.charge(WORK_PER_POLL / 2, &stop));
        assert_eq!([Ok(()), Err(Error::Interrupted)], outcomes);
    }

    #[test]
    fn work_on_the_calling_thread_alone_says_how_far_it_is_and_gives_the_reason_to_stop() {
        let mut seen = Vec::new();
        let mut watch = |done| {
            seen.push(done);
            if done < 7 { Ok(()) } else { Err(Error::Empty { what: "meter".into() }) }
        };
        let body = |stop: &Stop<'_>, done: &Cell<u64>| {
            done.set(7);
            Ok(stop.requested())
        };
        let outcome = Run { threads: 1, watch: &mut watch }.serial(body);
        assert_eq!(Err(Error::Empty { what: "meter".into() }), outcome);
        assert_eq!(vec![7], seen);
        let mut watch = |_| Ok(());
        assert_eq!(Ok(false), Run { threads: 1, watch: &mut watch }.serial(body));
    }

    #[test]
    fn sorting_in_pieces_is_sorting() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 17] {
            let values: Vec<u64> = (0..length as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 45).collect();
            let mut expected = values.clone();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            let mut got = values.clone();
            sort(&mut got, |a, b| b.cmp(a), &Stop::never()).unwrap();
            assert!(expected == got, "{length}");
            let flag = AtomicBool::new(true);
            let outcome = sort(&mut got, u64::cmp, &Stop { flag: &flag, poll: None });
            assert_eq!(length > PIECE, outcome.is_err());
        }
    }

    #[test]
    fn the_last_block_ends_with_the_items_however_many_there_are() {
        let blocks = Blocks { items: usize::MAX, size: 1 << 40, cost: 1, lead: 0 };
        assert_eq!(usize::MAX - ((1 << 40) - 1)..usize::MAX, blocks.range(blocks.count() - 1));
    }

    #[test]
    fn blocks_begin_at_multiples_of_their_size_wherever_the_items_begin() {
        let ranges = |items, lead| {
            let blocks = Blocks { items, size: 10, cost: 1, lead };
            (0..blocks.count()).map(|block| blocks.range(block)).collect::<Vec<_>>()
        };
        assert_eq!(vec![0..7, 7..17, 17..25], ranges(25, 3));
        assert_eq!(vec![0..1], ranges(1, 9));
        assert_eq!(vec![0..1, 1..2], ranges(2, 9));
        assert_eq!(vec![0..10, 10..20], ranges(20, 0));
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
            run(Blocks { items: 100, size: 9, cost, lead: 0 }, &mut run_, || (), |(), _, _| Some(()), |_, (), _| {})
                .unwrap();
            assert_eq!(100, seen);
        }
    }
}
