//! Runs blocks of work on threads that live as long as the call.
//!
//! There is no global thread pool, because it would hang in a child process made by `fork`. There is no work stealing
//! either: workers take blocks off a shared counter, so scoped threads of the standard library suffice. The calling
//! thread is one of the workers, and a small call starts no other thread. The calling thread also delivers results in
//! block order and polls whether the caller wants to stop: at most every 50 ms, whenever a kernel checks [`Stop`]
//! between pieces of its work.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering::{self as Order, Less};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::memory::reserved;

/// The calling thread polls its caller at most this often.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A call uses one more thread for each such amount of work (in additions, roughly). Starting a thread costs about as
/// much.
const WORK_PER_THREAD: u64 = 1 << 19;

/// The work (in additions, roughly) after which [`Stop::charge`] checks: less than a millisecond.
const WORK_PER_POLL: usize = 1 << 18;

/// How a long call runs, and who watches it.
pub struct Run<'a> {
    /// The number of threads; 0 means one per available core.
    pub threads: usize,
    /// Called regularly with the number of finished items. An error stops the call and is returned to the caller.
    pub watch: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl Run<'_> {
    /// [`Run::serial`] for preparatory work, which reports no finished items.
    pub(crate) fn prepare<T>(&mut self, body: impl FnOnce(&Stop<'_>) -> Result<T>) -> Result<T> {
        self.without_progress(|run| run.serial(body))
    }

    /// Runs preparatory work, which can be stopped but reports no finished items.
    pub(crate) fn without_progress<T>(&mut self, body: impl FnOnce(&mut Run<'_>) -> Result<T>) -> Result<T> {
        self.reporting(|_| 0, body)
    }

    /// Runs a part of the work, which reports another number of finished items than its own.
    pub(crate) fn reporting<T>(
        &mut self,
        finished: impl Fn(u64) -> u64,
        body: impl FnOnce(&mut Run<'_>) -> Result<T>,
    ) -> Result<T> {
        let Run { threads, watch } = self;
        body(&mut Run { threads: *threads, watch: &mut |done| watch(finished(done)) })
    }

    /// Runs work that is not divided into blocks, on the calling thread. `body` checks [`Stop`] regularly. It has no
    /// finished items, unless `Run::reporting` counts them.
    ///
    /// # Errors
    /// Whatever `watch` or `body` returned.
    pub fn serial<T>(&mut self, body: impl FnOnce(&Stop<'_>) -> Result<T>) -> Result<T> {
        let (flag, done) = (AtomicBool::new(false), Cell::new(0));
        let watcher = Watcher::new(&mut *self.watch, &flag, &done);
        let outcome = body(&Stop { flag: &flag, block: None, poll: Some(&|| watcher.poll()), work: Cell::new(0) });
        watcher.poll_now();
        watcher.outcome()?;
        outcome
    }
}

/// Lets the calling thread ask its caller whether to stop.
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

    /// Polls if the last poll is long enough ago.
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

/// Whether a worker has to stop early.
pub struct Stop<'a> {
    flag: &'a AtomicBool,
    /// In [`try_run`]: the block that is worked on, and the first block that is not wanted.
    block: Option<(usize, &'a AtomicUsize)>,
    /// On the calling thread only: polls the caller.
    poll: Option<&'a dyn Fn()>,
    /// The work since the last check of [`Stop::charge`].
    work: Cell<usize>,
}

impl Stop<'_> {
    /// Has the call been cancelled, or a block before this one failed? Kernels check between pieces of a block that take
    /// milliseconds at most.
    #[inline]
    pub fn requested(&self) -> bool {
        if let Some(poll) = self.poll {
            poll();
        }
        self.flag.load(Ordering::Relaxed) || self.block.is_some_and(|(own, end)| own >= end.load(Ordering::Relaxed))
    }

    /// Runs a part of a block, on this thread.
    pub(crate) fn on_this_thread<T>(&self, body: impl FnOnce(&mut Run<'_>) -> Result<T>) -> Result<T> {
        body(&mut Run { threads: 1, watch: &mut |_| self.check() })
    }

    /// [`Stop::requested`] as an error.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.requested() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Counts some work, in additions, roughly, and checks only once in a while: for loops whose iterations cost less than
    /// a check.
    #[inline]
    pub(crate) fn charge(&self, cost: usize) -> Result<()> {
        if self.requested_after(cost) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// [`Stop::charge`] where it is called for every token. It returns whether to stop, because a `Result` that may have to
    /// be dropped took longer than the rest.
    #[inline]
    pub(crate) fn requested_after(&self, cost: usize) -> bool {
        let work = self.work.get() + cost;
        self.work.set(work);
        work >= WORK_PER_POLL && self.requested_now()
    }

    #[cold]
    fn requested_now(&self) -> bool {
        self.work.set(0);
        self.requested()
    }

    /// Lets [`try_run`] end after this block: the blocks behind it are not wanted.
    pub fn end_here(&self) {
        if let Some((own, end)) = self.block {
            end.fetch_min(own + 1, Ordering::Relaxed);
        }
    }

    /// For tests that never stop.
    #[cfg(test)]
    pub(crate) fn never() -> Stop<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Stop { flag: &NEVER, block: None, poll: None, work: Cell::new(0) }
    }

    /// For tests that stop at the first check.
    #[cfg(test)]
    pub(crate) fn at_once() -> Stop<'static> {
        static AT_ONCE: AtomicBool = AtomicBool::new(true);
        Stop { flag: &AT_ONCE, block: None, poll: None, work: Cell::new(0) }
    }
}

/// The length of the pieces in which long sequences are processed. Any operation on a piece takes a few milliseconds at
/// most.
pub(crate) const PIECE: usize = 1 << 16;

/// An interruptible `sort_unstable_by`: sorts pieces, then merges them. Equal values may come in any order. A vector no
/// longer than a piece is sorted at once.
pub(crate) fn sort<T: Copy>(values: &mut Vec<T>, order: impl Fn(&T, &T) -> Order, stop: &Stop<'_>) -> Result<()> {
    let length = values.len();
    for piece in values.chunks_mut(PIECE) {
        if length > PIECE {
            stop.check()?;
        }
        piece.sort_unstable_by(&order);
    }
    if length <= PIECE {
        return Ok(());
    }
    let mut merged = reserved(length)?;
    let mut sorted = PIECE;
    while sorted < length {
        merged.clear();
        for pair in values.chunks(2 * sorted) {
            let (mut left, mut right) = pair.split_at(sorted.min(pair.len()));
            while let ([first_left, ..], [first_right, ..]) = (left, right) {
                stop.charge(8)?;
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

/// Stops all workers when one of them panics, so that the caller sees the panic soon.
struct StopAllOnPanic<'a>(&'a AtomicBool);

impl Drop for StopAllOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// A range of items, divided into blocks.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// The number of items.
    pub items: usize,
    /// Items per block; the last block may be shorter.
    pub size: usize,
    /// The cost of an item in additions, roughly.
    pub cost: u64,
    /// By how many items the first block is shorter, so that the others begin at multiples of the size.
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

/// Runs `work` on every block and passes the results to `sink` in block order. `state` makes the state of each thread.
///
/// The first error of `work` or `sink` ends the call. It is that of the lowest block that fails, for any number of
/// threads: blocks are begun in order, and those below a failed one are finished. Those above it are not begun any more,
/// or asked to stop, and their results are dropped. A `work` that has been asked to stop returns [`Error::Interrupted`];
/// a `sink` that wants no more results calls [`Stop::end_here`]. Both check their [`Stop`] if they may take long.
///
/// # Errors
/// Whatever `run.watch` returned, or else the first error; [`Error::Threads`] if the threads cannot be started.
pub fn try_run<S, T: Send>(
    blocks: Blocks,
    run: &mut Run<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<usize>, &Stop<'_>) -> Result<T> + Sync,
    mut sink: impl FnMut(Range<usize>, T, &Stop<'_>) -> Result<()>,
) -> Result<()> {
    let cost = (blocks.items as u64).saturating_mul(blocks.cost);
    // The number of threads that the work pays for.
    let worth = usize::try_from(cost / WORK_PER_THREAD).unwrap_or(usize::MAX).saturating_add(1);
    let others = thread_count(run.threads).min(blocks.count()).min(worth).saturating_sub(1);
    let shared = Shared::new(blocks.count());
    let items = Cell::new(0);
    let watcher = Watcher::new(&mut *run.watch, &shared.flag, &items);
    let poll = || watcher.poll();
    let work = |state: &mut S, block: usize, stop: &Stop<'_>| {
        let outcome = work(state, blocks.range(block), stop);
        if outcome.is_err() {
            stop.end_here();
        }
        outcome
    };
    let mut failed = None;
    // Takes the outcomes in block order.
    let mut deliver = |block: usize, outcome: Result<T>| {
        let (range, stop) = (blocks.range(block), shared.stop(block, Some(&poll)));
        let n = range.len() as u64;
        match outcome.and_then(|done| sink(range, done, &stop)) {
            Ok(()) => items.set(items.get() + n),
            Err(error) => {
                stop.end_here();
                failed = Some(error);
            }
        }
    };
    if others == 0 {
        // A single thread needs no channel.
        let mut state = state();
        shared.each_block(Some(&poll), &mut |block, stop| deliver(block, work(&mut state, block, stop)));
    } else {
        let results = Mutex::new(Waiting { first: 0, results: VecDeque::new() });
        // Functions, so that the lock is released before anything else is done.
        let insert = |block, outcome| locked(&results).insert(block, outcome);
        let next_result = || locked(&results).next();
        let worker = |announce: &SyncSender<()>| {
            let mut state = state();
            shared.each_block(None, &mut |block, stop| {
                insert(block, work(&mut state, block, stop));
                // Only after a panic does nobody listen any more, and it stops all workers.
                let _ = announce.send(());
            });
        };
        let mut deliver = || {
            while let Some((block, outcome)) = next_result() {
                if shared.wants(block) {
                    deliver(block, outcome);
                }
            }
        };
        let mut on_this_thread = |announced: &Receiver<()>| {
            let mut state = state();
            shared.each_block(Some(&poll), &mut |block, stop| {
                insert(block, work(&mut state, block, stop));
                announced.try_iter().for_each(drop);
                deliver();
            });
            until_the_others_end(announced, &mut || {
                deliver();
                poll();
            });
        };
        run_beside(others, &shared.flag, &worker, &mut on_this_thread)?;
    }
    watcher.poll_now();
    watcher.outcome()?;
    failed.map_or(Ok(()), Err)
}

/// [`try_run`] with one item per block. Returns the results of all items.
pub(crate) fn each<S, T: Send>(
    items: usize,
    cost: u64,
    run: &mut Run<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &Stop<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut out = reserved(items)?;
    let work = |state: &mut S, items: Range<usize>, stop: &Stop<'_>| work(state, items.start, stop);
    try_run(Blocks { items, size: 1, cost, lead: 0 }, run, state, work, |_, result, _| {
        out.push(result);
        Ok(())
    })?;
    Ok(out)
}

/// What the threads of a call know of each other.
struct Shared {
    /// Whether all have to stop.
    flag: AtomicBool,
    /// The next block to be begun.
    next: AtomicUsize,
    /// The first block that is not wanted.
    end: AtomicUsize,
}

// `Shared`, `until_the_others_end` and `run_beside` are apart from `try_run` and not generic, because every kind of work
// has its own copy of `try_run`: threads and channels in each of them were a fifth of all that the compiler had to do.
impl Shared {
    fn new(blocks: usize) -> Self {
        Shared { flag: AtomicBool::new(false), next: AtomicUsize::new(0), end: AtomicUsize::new(blocks) }
    }

    fn stop<'a>(&'a self, block: usize, poll: Option<&'a dyn Fn()>) -> Stop<'a> {
        Stop { flag: &self.flag, block: Some((block, &self.end)), poll, work: Cell::new(0) }
    }

    fn wants(&self, block: usize) -> bool {
        block < self.end.load(Ordering::Relaxed)
    }

    /// Begins blocks, in order, until no more of them are wanted.
    fn each_block(&self, poll: Option<&dyn Fn()>, body: &mut dyn FnMut(usize, &Stop<'_>)) {
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            let stop = self.stop(block, poll);
            if stop.requested() {
                break;
            }
            body(block, &stop);
        }
    }
}

/// Calls `body` after each announcement of the other threads, and when there has been none for a while.
fn until_the_others_end(announced: &Receiver<()>, body: &mut dyn FnMut()) {
    while !matches!(announced.recv_timeout(POLL_INTERVAL), Err(RecvTimeoutError::Disconnected)) {
        body();
    }
}

/// Results that have not been delivered yet.
struct Waiting<T> {
    /// The next block to be delivered.
    first: usize,
    /// The results of this block and those after it, as far as they are known.
    results: VecDeque<Option<T>>,
}

impl<T> Waiting<T> {
    fn insert(&mut self, block: usize, result: T) {
        let at = block - self.first;
        if at >= self.results.len() {
            self.results.resize_with(at + 1, || None);
        }
        self.results[at] = Some(result);
    }

    /// The next block and its result, if it is known.
    fn next(&mut self) -> Option<(usize, T)> {
        let result = self.results.front_mut()?.take()?;
        self.results.pop_front();
        self.first += 1;
        Some((self.first - 1, result))
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `worker` on some other threads, and `here` on the calling one. Workers announce each result, and wait while too
/// many announcements have not been read.
fn run_beside(
    others: usize,
    flag: &AtomicBool,
    worker: &(dyn Fn(&SyncSender<()>) + Sync),
    here: &mut dyn FnMut(&Receiver<()>),
) -> Result<()> {
    let (announce, announced) = mpsc::sync_channel(4 * others);
    std::thread::scope(|scope| {
        // Dropped when this closure ends, even by a panic, so that no worker waits forever to announce a result.
        let announced = announced;
        let _guard = StopAllOnPanic(flag);
        for i in 0..others {
            let announce = announce.clone();
            let worker = move || {
                let _guard = StopAllOnPanic(flag);
                worker(&announce);
            };
            let spawned = std::thread::Builder::new().name(format!("reshuffle-{i}")).spawn_scoped(scope, worker);
            if let Err(reason) = spawned {
                flag.store(true, Ordering::Relaxed);
                return Err(Error::Threads { threads: others + 1, reason: reason.to_string() });
            }
        }
        drop(announce);
        here(&announced);
        Ok(())
    })
}

/// The number of threads to use. 0 means as many as the scheduler allowed this process when first asked; the answer is
/// cached because asking takes system calls and reads control-group files, as long as a small problem takes.
pub fn thread_count(threads: usize) -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if threads == 0 { *AVAILABLE.get_or_init(available) } else { threads }
}

/// Runs `body` on this many threads, for tests that nobody watches.
#[cfg(test)]
pub(crate) fn with_run<T>(threads: usize, body: impl FnOnce(&mut Run<'_>) -> T) -> T {
    body(&mut Run { threads, watch: &mut |_| Ok(()) })
}

/// Runs `body` on this many threads until it has reported its progress as often as this, for tests.
#[cfg(test)]
pub(crate) fn stopped<T>(threads: usize, mut reports: usize, body: impl FnOnce(&mut Run<'_>) -> T) -> T {
    let watch = &mut |_| {
        reports = reports.checked_sub(1).ok_or(Error::Interrupted)?;
        Ok(())
    };
    body(&mut Run { threads, watch })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of an item that justifies a thread of its own.
    const LARGE: u64 = WORK_PER_THREAD;

    fn sum_of_squares(threads: usize, size: usize, cost: u64) -> Vec<usize> {
        let mut out = Vec::new();
        try_run(
            Blocks { items: 1000, size, cost, lead: 0 },
            &mut Run { threads, watch: &mut |_| Ok(()) },
            || (),
            |(), range, _| Ok(range.map(|i| i * i).collect::<Vec<_>>()),
            |_, part, _| {
                out.extend(part);
                Ok(())
            },
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
    fn an_error_of_the_watcher_stops_the_call_soon() {
        let begun = Instant::now();
        let got = try_run(
            Blocks { items: 2, size: 1, cost: LARGE, lead: 0 },
            &mut Run { threads: 2, watch: &mut |_| Err(Error::Interrupted) },
            || (),
            |(), _, stop| {
                while !stop.requested() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Error::Interrupted)
            },
            |_, (), _| Ok(()),
        );
        assert_eq!(Err(Error::Interrupted), got);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    /// Runs blocks of one item each. Returns the error, the items whose results were delivered, and the number that began.
    fn errors_of(
        threads: usize,
        work: impl Fn(usize, &Stop<'_>) -> Result<()> + Sync,
        sink: impl Fn(usize, &Stop<'_>) -> Result<()>,
    ) -> (Result<()>, Vec<usize>, usize) {
        let (begun, mut delivered) = (AtomicUsize::new(0), Vec::new());
        let outcome = try_run(
            Blocks { items: 100_000, size: 1, cost: LARGE, lead: 0 },
            &mut Run { threads, watch: &mut |_| Ok(()) },
            || (),
            |(), range, stop| {
                begun.fetch_add(1, Ordering::Relaxed);
                work(range.start, stop)
            },
            |range, (), stop| {
                sink(range.start, stop)?;
                delivered.push(range.start);
                Ok(())
            },
        );
        (outcome, delivered, begun.into_inner())
    }

    fn error_of(item: usize) -> Error {
        Error::Overflow { column: item }
    }

    /// Waits until something is so, which must not take long.
    fn wait(until: impl Fn() -> bool) {
        let begun = Instant::now();
        while !until() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
    }

    fn interrupted(stop: &Stop<'_>) -> Result<()> {
        wait(|| stop.requested());
        Err(Error::Interrupted)
    }

    #[test]
    fn the_first_error_ends_the_work() {
        for threads in [1, 2, 4] {
            let work = |item, stop: &Stop<'_>| match item {
                0..5 => Ok(()),
                5 => Err(error_of(item)),
                _ => interrupted(stop),
            };
            let (outcome, delivered, begun) = errors_of(threads, work, |_, _| Ok(()));
            assert_eq!((Err(error_of(5)), vec![0, 1, 2, 3, 4]), (outcome, delivered));
            // Each other thread has begun one item at most.
            assert!((6..6 + threads).contains(&begun), "{begun} of {threads} threads");
        }
    }

    #[test]
    fn the_error_is_that_of_the_lowest_item_even_if_a_later_one_fails_first() {
        for threads in [1, 2, 4] {
            let later_has_failed = AtomicBool::new(false);
            let work = |item, stop: &Stop<'_>| match item {
                3 => {
                    wait(|| threads == 1 || later_has_failed.load(Ordering::Relaxed));
                    // The error of a later item does not stop this one.
                    assert!(!stop.requested());
                    Err(error_of(item))
                }
                5.. => {
                    later_has_failed.store(true, Ordering::Relaxed);
                    Err(error_of(item))
                }
                _ => Ok(()),
            };
            let (outcome, delivered, begun) = errors_of(threads, work, |_, _| Ok(()));
            assert_eq!((Err(error_of(3)), vec![0, 1, 2]), (outcome, delivered));
            assert!(begun < 6 + threads);
        }
    }

    #[test]
    fn an_error_or_the_wish_of_the_sink_ends_the_work() {
        for threads in [1, 2, 4] {
            // Other threads wait to be stopped. The calling thread goes on, because it runs the sink.
            let work = |item, stop: &Stop<'_>| if item < 7 || stop.poll.is_some() { Ok(()) } else { interrupted(stop) };
            let fails = |item, _: &Stop<'_>| if item < 6 { Ok(()) } else { Err(error_of(item)) };
            let (outcome, delivered, begun) = errors_of(threads, work, fails);
            assert_eq!((Err(error_of(6)), (0..6).collect()), (outcome, delivered));
            assert!(threads > 1 || begun == 7, "{begun}");
            let ends = |item, stop: &Stop<'_>| {
                if item == 6 {
                    stop.end_here();
                }
                Ok(())
            };
            let (outcome, delivered, begun) = errors_of(threads, work, ends);
            assert_eq!((Ok(()), (0..7).collect()), (outcome, delivered));
            assert!(threads > 1 || begun == 7, "{begun}");
        }
    }

    #[test]
    fn a_panic_in_any_worker_ends_the_call() {
        for culprit in [0, 1, 57] {
            let outcome = std::panic::catch_unwind(|| {
                let mut run_ = Run { threads: 3, watch: &mut |_| Ok(()) };
                let work = |_: &mut (), range: Range<usize>, _: &Stop<'_>| {
                    assert_ne!(culprit, range.start, "this panic is part of the test");
                    Ok(())
                };
                try_run(
                    Blocks { items: usize::MAX / 2, size: 1, cost: LARGE, lead: 0 },
                    &mut run_,
                    || (),
                    work,
                    |_, (), _| Ok(()),
                )
            });
            assert!(outcome.is_err());
        }
    }

    #[test]
    fn preparatory_work_can_be_stopped_and_reports_no_progress() {
        let mut seen = Vec::new();
        let mut watch = |done| {
            seen.push(done);
            if seen.len() < 3 { Ok(()) } else { Err(Error::Interrupted) }
        };
        let mut run_ = Run { threads: 2, watch: &mut watch };
        let mut items = 0;
        let outcome = run_.without_progress(|run_| {
            try_run(
                Blocks { items: 100, size: 9, cost: 0, lead: 0 },
                run_,
                || (),
                |(), _, _| Ok(()),
                |_, (), _| Ok(()),
            )?;
            run_.serial(|stop| {
                while !stop.requested() {
                    items += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err::<(), _>(Error::Interrupted)
            })
        });
        assert_eq!((Err(Error::Interrupted), [0, 0, 0].as_slice()), (outcome, seen.as_slice()));
        assert!((2..1000).contains(&items), "{items}");
    }

    #[test]
    fn charged_work_reports_a_requested_stop() {
        let flag = AtomicBool::new(false);
        let stop = Stop { flag: &flag, ..Stop::never() };
        (0..10).for_each(|_| stop.charge(WORK_PER_POLL).unwrap());
        flag.store(true, Ordering::Relaxed);
        let outcomes = [1, 2].map(|_| stop.charge(WORK_PER_POLL / 2));
        assert_eq!([Ok(()), Err(Error::Interrupted)], outcomes);
    }

    #[test]
    fn serial_work_reports_progress_and_returns_the_watchers_error() {
        let mut seen = Vec::new();
        let mut watch = |done| {
            seen.push(done);
            if done < 7 { Ok(()) } else { Err(Error::Empty { what: "meter".into() }) }
        };
        let done = Cell::new(0);
        let body = |stop: &Stop<'_>| {
            done.set(7);
            Ok(stop.requested())
        };
        let outcome = Run { threads: 1, watch: &mut watch }.reporting(|_| done.get(), |run| run.serial(body));
        assert_eq!(Err(Error::Empty { what: "meter".into() }), outcome);
        assert_eq!(vec![7], seen);
        assert_eq!(Ok(false), with_run(1, |run| run.serial(body)));
    }

    #[test]
    fn sorting_in_pieces_equals_sorting() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 17] {
            let values: Vec<u64> = (0..length as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 45).collect();
            let mut expected = values.clone();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            let mut got = values.clone();
            sort(&mut got, |a, b| b.cmp(a), &Stop::never()).unwrap();
            assert!(expected == got, "{length}");
            let outcome = sort(&mut got, u64::cmp, &Stop::at_once());
            assert_eq!(length > PIECE, outcome.is_err());
        }
    }

    #[test]
    fn the_last_block_ends_at_the_last_item() {
        let blocks = Blocks { items: usize::MAX, size: 1 << 40, cost: 1, lead: 0 };
        assert_eq!(usize::MAX - ((1 << 40) - 1)..usize::MAX, blocks.range(blocks.count() - 1));
    }

    #[test]
    fn blocks_begin_at_multiples_of_their_size() {
        let ranges = |items, lead| {
            let blocks = Blocks { items, size: 10, cost: 1, lead };
            (0..blocks.count()).map(|block| blocks.range(block)).collect::<Vec<_>>()
        };
        assert_eq!(vec![0..7, 7..17, 17..25], ranges(25, 3));
        assert_eq!(vec![0..1], ranges(1, 9));
        assert_eq!(vec![0..1, 1..2], ranges(2, 9));
        assert_eq!(vec![0..10, 10..20], ranges(20, 0));
    }
}
