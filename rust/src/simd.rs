//! Vector instructions: the only place that detects what the processor supports and chooses a code path.
//!
//! There are three paths, and all give the same bytes:
//!
//! | path | needs |
//! |---|---|
//! | `portable` | nothing beyond the compiler's default target |
//! | `avx2` | AVX2, BMI1, BMI2, LZCNT and POPCNT: nearly every x86-64 processor since 2013 |
//! | `avx512` | AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and VNNI on top: Intel since Ice Lake, AMD since Zen 4 |
//!
//! On AArch64 there is only `portable`, which the compiler turns into NEON, because NEON is in that target's baseline. No
//! path written by hand has been measured there.
//!
//! The best path that the processor supports is used, or the one named by the environment variable `RESHUFFLE_SIMD`,
//! which is read once. A processor with an older AVX-512 uses `avx2`: the `avx512` path exists for VBMI, which looks up
//! 64 bytes at a time.
//!
//! A [`Simd`] can only be created here, so holding one of its variants proves that the instructions exist. `dispatch!`
//! compiles a function once per path; modules with intrinsics take a token ([`Avx2`], [`Avx512`]) instead.
//!
//! Who is passed a path uses it, and passes it on: kernels, and whatever tests run on every path. Who is not passed one is
//! an outermost entry (a public function, a constructor, a method of a trait that knows no paths, or the work of a thread),
//! and reads [`Simd::best`] once, before its loops. No function does both.

use std::env;
use std::ffi::OsStr;
use std::sync::OnceLock;

use crate::error::{Error, Result};

/// The environment variable that forces a path.
pub const VARIABLE: &str = "RESHUFFLE_SIMD";

/// Proof that the processor has the instructions of the path `avx2`.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

/// Proof that the processor has the instructions of the path `avx512`.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl From<Avx2> for Simd {
    fn from(token: Avx2) -> Self {
        Simd::Avx2(token)
    }
}

#[cfg(target_arch = "x86_64")]
impl From<Avx512> for Simd {
    fn from(token: Avx512) -> Self {
        Simd::Avx512(token)
    }
}

/// A path that this processor supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simd {
    /// What the compiler generates for its default target.
    Portable,
    /// 32 bytes per instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// 64 bytes per instruction, and look-ups of 64 bytes in a table of 64.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// All names, the most portable first.
const NAMES: [&str; 3] = ["portable", "avx2", "avx512"];

impl Simd {
    /// The path in use: the one named by `RESHUFFLE_SIMD`, otherwise the best. If the variable is invalid this is the
    /// best one, too; callers that can report an error call [`Simd::chosen`] first.
    pub fn best() -> Self {
        #[cfg(test)]
        if let Some(forced) = FORCED.get() {
            return forced;
        }
        match choice() {
            Ok(simd) => *simd,
            Err(_) => Simd::available().pop().unwrap_or(Simd::Portable),
        }
    }

    /// The path in use, or why `RESHUFFLE_SIMD` is invalid.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `RESHUFFLE_SIMD` names no path, or one that this processor lacks.
    pub fn chosen() -> Result<Self> {
        choice().clone()
    }

    /// The path with at most 32 bytes per instruction: for loops that the compiler spoils with longer ones.
    pub fn at_most_avx2(self) -> Self {
        match self {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(_) => Simd::Avx2(Avx2(())),
            other => other,
        }
    }

    /// The name of the path, as in `RESHUFFLE_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Simd::Portable => NAMES[0],
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2(_) => NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(_) => NAMES[2],
        }
    }

    /// All paths that this processor supports, the best one last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut all = vec![Simd::Portable];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            all.push(Simd::Avx2(Avx2(())));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("avx512vnni")
            {
                all.push(Simd::Avx512(Avx512(())));
            }
        }
        all
    }

    /// For tests: runs `body` with each path as the one in use on this thread.
    #[cfg(test)]
    pub(crate) fn on_every_path(mut body: impl FnMut(Self)) {
        for simd in Simd::tested() {
            FORCED.set(Some(simd));
            body(simd);
        }
        FORCED.set(None);
    }

    /// For tests: all paths that this processor supports. The others are reported on standard error, which the test
    /// harness does not capture.
    #[cfg(test)]
    pub(crate) fn tested() -> Vec<Self> {
        use std::io::Write;
        static REPORTED: std::sync::Once = std::sync::Once::new();
        let available = Simd::available();
        REPORTED.call_once(|| {
            for name in NAMES.iter().skip(available.len()) {
                let _ = writeln!(std::io::stderr(), "NOT RUN: path {name}: this processor does not support it");
            }
        });
        available
    }
}

#[cfg(test)]
thread_local!(static FORCED: std::cell::Cell<Option<Simd>> = const { std::cell::Cell::new(None) });

/// The choice, made once per process.
fn choice() -> &'static Result<Simd> {
    static CHOICE: OnceLock<Result<Simd>> = OnceLock::new();
    CHOICE.get_or_init(|| choose(env::var_os(VARIABLE).as_deref(), &Simd::available()))
}

/// The available path of that name, or the best one without a name.
fn choose(name: Option<&OsStr>, available: &[Simd]) -> Result<Simd> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(*available.last().unwrap_or(&Simd::Portable));
    };
    let name = name.to_string_lossy();
    available.iter().copied().find(|simd| simd.name() == name).ok_or_else(|| {
        let known = NAMES.contains(&name.as_ref());
        let names: Vec<_> = if known { available.iter().map(|simd| simd.name()).collect() } else { NAMES.to_vec() };
        let names = names.join(", ");
        let expected = match known {
            true => format!("unset or one that this processor supports ({names})"),
            false => format!("unset or one of {names}"),
        };
        Error::invalid(VARIABLE, expected, format!("{name:?}"))
    })
}

/// Defines a function that takes the path as its first argument and is compiled once per path. What it calls in its loops
/// has to be `inline(always)`. The function may have a type parameter `<T: Bound>` and a const parameter
/// `[const N: usize]`. `cargo fmt` leaves it as it is.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$generic:ident: $bound:path>)? $([const $number:ident: $of:ty])? ($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?
            $body:block
    ) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name <$($generic: $bound,)? $(const $number: $of)?>(simd: $crate::simd::Simd, $($arg: $type),*) $(-> $out)? {
            #[inline(always)]
            #[deny(unsafe_code)]
            fn portable <$($generic: $bound,)? $(const $number: $of)?>($($arg: $type),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2 <$($generic: $bound,)? $(const $number: $of)?>($($arg: $type),*) $(-> $out)? {
                portable($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
            fn avx512 <$($generic: $bound,)? $(const $number: $of)?>($($arg: $type),*) $(-> $out)? {
                portable($($arg),*)
            }

            match simd {
                $crate::simd::Simd::Portable => portable($($arg),*),
                // SAFETY: this variant of `Simd` exists only if the processor has the instructions.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Simd::Avx2(_) => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Simd::Avx512(_) => unsafe { avx512($($arg),*) },
            }
        }
    };
}

#[doc(hidden)]
pub use crate::dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_its_name_and_the_best_is_the_default() {
        let available = Simd::available();
        for &simd in &available {
            assert_eq!(Ok(simd), choose(Some(OsStr::new(simd.name())), &available));
        }
        for nothing in [None, Some(OsStr::new(""))] {
            assert_eq!(Ok(available[available.len() - 1]), choose(nothing, &available));
            assert_eq!(Ok(Simd::Portable), choose(nothing, &available[..1]));
        }
    }

    #[test]
    fn a_path_with_shorter_registers_is_available_too() {
        let available = Simd::available();
        for &simd in &available {
            let shorter = simd.at_most_avx2();
            assert!(shorter.name() != "avx512" && available.contains(&shorter));
            assert!(simd.name() == "avx512" || simd == shorter);
        }
    }

    #[test]
    fn unknown_and_unsupported_paths_are_refused() {
        let refused = |name, available: &[Simd]| choose(Some(OsStr::new(name)), available).unwrap_err().to_string();
        assert_eq!(
            "RESHUFFLE_SIMD must be unset or one of portable, avx2, avx512, got \"AVX2\"",
            refused("AVX2", &Simd::available())
        );
        assert_eq!(
            "RESHUFFLE_SIMD must be unset or one that this processor supports (portable), got \"avx512\"",
            refused("avx512", &[Simd::Portable])
        );
    }
}
