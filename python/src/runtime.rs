//! Work without the interpreter's lock: handles Ctrl-C, and starts new threads in forked processes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The thread pool of a process, with the process id: threads do not survive a fork, and waiting for them would never
/// end.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, threads)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(threads));
    }
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("windlass-{number}"));
    let threads = threads.build().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let threads = Arc::new(threads);
    // The pool of the parent process must not be dropped: its threads do not exist here.
    std::mem::forget(pool.replace((process, Arc::clone(&threads))));
    Ok(threads)
}

/// Below these sizes the lock is not released: the core uses one thread, which is also safe in a forked process.
pub(crate) fn is_little(values: usize, rows: usize) -> bool {
    const VALUES: usize = 1 << 14;
    const ROWS: usize = 256;
    values <= VALUES && rows <= ROWS
}

/// Runs work without the interpreter's lock, unless it is small.
pub(crate) fn away_unless<T: Send>(
    py: Python<'_>,
    little: bool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if little { Ok(work()) } else { away(py, work) }
}

/// Runs work without the interpreter's lock.
pub(crate) fn away<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = pool()?;
    Ok(py.detach(|| threads.install(work)))
}

/// Runs work that may take long. Ctrl-C sets the flag passed to the work; the result is then `KeyboardInterrupt`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let threads = pool()?;
    let stop = AtomicBool::new(false);
    let (ended, bell) = (Mutex::new(false), Condvar::new());
    let mut interrupted = None;
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = catch_unwind(AssertUnwindSafe(|| threads.install(|| work(&stop))));
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
            bell.notify_all();
            result
        });
        let wait = || {
            let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            let pause = Duration::from_millis(50);
            let waited = bell.wait_timeout_while(ended, pause, |ended| !*ended);
            *waited.unwrap_or_else(PoisonError::into_inner).0
        };
        while !py.detach(wait) {
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }
        worker.join()
    });
    match (interrupted, result) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(result))) => Ok(result),
        (None, Ok(Err(_)) | Err(_)) => {
            Err(PyRuntimeError::new_err("a fault inside windlass; please report it"))
        }
    }
}
