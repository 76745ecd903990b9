//! Which vector instructions are used: the one place that asks what the processor has, and chooses between paths.
//!
//! There are three, and all give the same bytes:
//!
//! | path | needs |
//! |---|---|
//! | `portable` | nothing beyond what the compiler takes for granted |
//! | `avx2` | AVX2, BMI1, BMI2, LZCNT and POPCNT: nearly every x86-64 processor since 2013 |
//! | `avx512` | AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and VNNI on top: Intel since Ice Lake, AMD since Zen 4 |
//!
//! The best one that the processor has is taken, or the one that the environment variable `RESHUFFLE_SIMD` names; it is
//! read once. A processor with an older AVX-512 takes `avx2`: without VBMI it cannot look bytes up 64 at a time, which is
//! what the path is for.
//!
//! [`Simd`] can only be had here, so that whoever holds one of its variants knows that the instructions are there.
//! `dispatch!` compiles a function for each path; modules of intrinsics take a token ([`Avx2`], [`Avx512`]) instead.

use std::env;
use std::ffi::OsStr;
use std::sync::OnceLock;

use crate::error::{Error, Result};

/// The environment variable that forces a path.
pub const VARIABLE: &str = "RESHUFFLE_SIMD";

/// The processor has the instructions of the path `avx2`.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

/// The processor has the instructions of the path `avx512`.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

/// A path that this processor can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simd {
    /// Whatever the compiler makes of the code without knowing the processor.
    Portable,
    /// 32 bytes to an instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// 64 bytes to an instruction, and look-ups of bytes among as many.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// All names, the most portable first.
const NAMES: [&str; 3] = ["portable", "avx2", "avx512"];

impl Simd {
    /// The path in use: the one that `RESHUFFLE_SIMD` names, or else the best. If the variable cannot be followed, the
    /// best one, too: whoever can hand an error on asks [`Simd::chosen`] before.
    pub fn best() -> Self {
        match choice() {
            Ok(simd) => *simd,
            Err(_) => Simd::available().pop().unwrap_or(Simd::Portable),
        }
    }

    /// The path in use.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `RESHUFFLE_SIMD` names no path, or one that this processor lacks.
    pub fn chosen() -> Result<Self> {
        choice().clone()
    }

    /// As `RESHUFFLE_SIMD` has it.
    pub fn name(self) -> &'static str {
        match self {
            Simd::Portable => NAMES[0],
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2(_) => NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(_) => NAMES[2],
        }
    }

    /// All that this processor can take, the best one last.
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

    /// For tests: all that this processor can take. Those that it lacks are named on standard error, which tests do not
    /// capture.
    #[cfg(test)]
    pub(crate) fn tested() -> Vec<Self> {
        use std::io::Write;
        static SAID: std::sync::Once = std::sync::Once::new();
        let available = Simd::available();
        SAID.call_once(|| {
            for name in NAMES.iter().skip(available.len()) {
                let _ = writeln!(std::io::stderr(), "NOT RUN: the path {name}, which this processor lacks");
            }
        });
        available
    }
}

/// What was chosen, once and for all.
fn choice() -> &'static Result<Simd> {
    static CHOICE: OnceLock<Result<Simd>> = OnceLock::new();
    CHOICE.get_or_init(|| choose(env::var_os(VARIABLE).as_deref(), &Simd::available()))
}

/// The path of that name among those that are here, or the last of them.
fn choose(name: Option<&OsStr>, available: &[Simd]) -> Result<Simd> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(*available.last().unwrap_or(&Simd::Portable));
    };
    let name = name.to_string_lossy();
    available.iter().copied().find(|simd| simd.name() == name).ok_or_else(|| {
        let known = NAMES.contains(&name.as_ref());
        let names: Vec<_> = if known { available.iter().map(|simd| simd.name()).collect() } else { NAMES.to_vec() };
        let names = names.join(" or ");
        let expected = match known {
            true => format!("{names}, which is what this processor has, or not be set"),
            false => format!("{names}, or not be set"),
        };
        Error::InvalidOption { option: VARIABLE.into(), expected, got: format!("{name:?}") }
    })
}

/// A function that takes the path first, and is compiled for each of them; the body has to be `inline(always)`. It may have
/// one parameter of a type `<T: Bound>`, or of a number `[const N: usize]`.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$generic:ident: $bound:path>)? $([const $number:ident: $of:ty])? ($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?
            = $body:expr;
    ) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name $(<$generic: $bound>)? $(<const $number: $of>)? (simd: $crate::simd::Simd, $($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2 $(<$generic: $bound>)? $(<const $number: $of>)? ($($arg: $type),*) $(-> $out)? {
                ($body)($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
            fn avx512 $(<$generic: $bound>)? $(<const $number: $of>)? ($($arg: $type),*) $(-> $out)? {
                ($body)($($arg),*)
            }

            match simd {
                $crate::simd::Simd::Portable => ($body)($($arg),*),
                // SAFETY: the path is only given to those whose processor has its instructions.
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
    fn a_path_is_found_by_its_name_and_without_one_the_best_is() {
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
    fn names_of_no_path_and_of_one_that_is_not_here_are_refused() {
        let refused = |name, available: &[Simd]| choose(Some(OsStr::new(name)), available).unwrap_err().to_string();
        assert_eq!(
            "RESHUFFLE_SIMD must be portable or avx2 or avx512, or not be set, got \"AVX2\"",
            refused("AVX2", &Simd::available())
        );
        assert_eq!(
            "RESHUFFLE_SIMD must be portable, which is what this processor has, or not be set, got \"avx512\"",
            refused("avx512", &[Simd::Portable])
        );
    }
}
