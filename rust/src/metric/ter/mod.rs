//! Translation edit rate (Snover et al. 2006, 2006.amta-papers.25): edits per word of the reference, where moving a
//! phrase is one edit.
//!
//! Finding the fewest edits is intractable, so TER is *defined* by its greedy search. Two searches are available: that
//! of sacreBLEU 2.6.0, whose counts are reproduced for any text, and that of Tercom 7.25. They differ in one or two
//! segments per thousand, in how they split lines at white space outside ASCII, and under options that do more than
//! split.

mod sacrebleu;
mod search;
mod tercom;
#[cfg(test)]
mod tests;
mod words;

use super::error_rate::ErrorRate;
use super::{Kind, MetricSpec, OptionSpec, Options, Value};
use sacrebleu::SacreBleu;
use search::Search;
use tercom::Tercom;
use words::TerWords;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "ter",
    about: "translation edit rate: word error rate in which moving a phrase is one edit",
    source: "2006.amta-papers.25",
    reads_parses: false,
    options: &[
        OptionSpec::flag("normalized", "separate punctuation from words"),
        OptionSpec::flag("no_punct", "drop punctuation"),
        OptionSpec::flag(
            "asian_support",
            "with normalized, split Chinese and Japanese into characters; with no_punct, drop their punctuation",
        ),
        OptionSpec::flag("case_sensitive", "distinguish upper and lower case"),
        OptionSpec {
            name: "variant",
            kind: Kind::Choice(|| vec![SACREBLEU, TERCOM]),
            default: || Value::Name(SACREBLEU.into()),
            about: "the tool whose tokenization and search for shifts to use",
        },
    ],
    build: |options| Ok(Box::new(ter(options))),
};

const SACREBLEU: &str = "sacrebleu";
const TERCOM: &str = "tercom";

/// TER with these options.
fn ter(options: &Options) -> ErrorRate {
    let words = TerWords::new(options);
    let signature = words.signature();
    match options.name("variant") {
        TERCOM => ErrorRate::new::<Search<Tercom>>("TER", signature, words),
        _ => ErrorRate::new::<Search<SacreBleu>>("TER", signature, words),
    }
}
