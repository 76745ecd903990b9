//! For tests: runs functions with each instruction set that they are compiled for, not only with the processor's best.

use std::io::Write;

/// Runs a test if the processor has the instructions, else says so on standard error, which tests do not capture.
pub(crate) fn run_or_say(instructions: &str, available: bool, run: impl FnOnce()) {
    if available {
        run();
    } else {
        let _ = writeln!(std::io::stderr(), "NOT RUN: this processor has no {instructions}");
    }
}

/// The function, which has to be `inline(always)`, compiled for every set of instructions that there is here.
macro_rules! instruction_sets {
    ($body:expr, fn($($arg:ident: $type:ty),*) $(-> $out:ty)?) => {{
        #[allow(unsafe_code, clippy::too_many_arguments)]
        mod sets {
            #[allow(unused_imports)]
            use super::*;

            pub fn portable($($arg: $type),*) $(-> $out)? {
                ($body)($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            pub fn avx2($($arg: $type),*) $(-> $out)? {
                #[target_feature(enable = "avx2,popcnt")]
                fn compiled($($arg: $type),*) $(-> $out)? {
                    ($body)($($arg),*)
                }
                // SAFETY: called where the processor has the instructions.
                unsafe { compiled($($arg),*) }
            }

            #[cfg(target_arch = "x86_64")]
            pub fn avx512($($arg: $type),*) $(-> $out)? {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
                fn compiled($($arg: $type),*) $(-> $out)? {
                    ($body)($($arg),*)
                }
                // SAFETY: as above.
                unsafe { compiled($($arg),*) }
            }
        }
        let mut all: Vec<(&str, fn($($type),*) $(-> $out)?)> = vec![("portable", sets::portable)];
        #[cfg(target_arch = "x86_64")]
        {
            use $crate::instructions::run_or_say;
            run_or_say("AVX2", is_x86_feature_detected!("avx2"), || all.push(("AVX2", sets::avx2)));
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            run_or_say("AVX-512", has_avx512, || all.push(("AVX-512", sets::avx512)));
        }
        all
    }};
}

pub(crate) use instruction_sets;
