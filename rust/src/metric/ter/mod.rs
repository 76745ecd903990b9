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

use super::error_rate::{Rate, RowCounter};
use super::text::{case, yes};
use super::{Counters, Kind, Metric, MetricSpec, OptionSpec, Options, Resolution, Texts, Value};
use crate::error::Result;
use crate::pool::Run;
use sacrebleu::SacreBleu;
use search::{Search, Variant};
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
    build: |options| Ok(Box::new(Ter::new(options))),
};

const SACREBLEU: &str = "sacrebleu";
const TERCOM: &str = "tercom";

/// TER. A row is `[edits, ref_len]`.
pub struct Ter {
    words: TerWords,
}

impl Ter {
    /// TER with these options.
    pub fn new(options: &Options) -> Self {
        let mut words = TerWords::new(
            options.flag("normalized"),
            options.flag("no_punct"),
            options.flag("asian_support"),
            options.flag("case_sensitive"),
        );
        words.tercom = options.name("variant") == TERCOM;
        Ter { words }
    }

    fn counter<V: Variant + Default>(&self, resolution: Resolution) -> RowCounter<TerWords, Search<V>> {
        RowCounter::new(resolution, self.words.clone())
    }
}

impl Rate for Ter {
    fn name(&self) -> &str {
        "TER"
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let TerWords { normalized, no_punct, asian_support, case_sensitive, tercom, .. } = self.words;
        let mut signature = vec![
            case(!case_sensitive),
            ("tok", "tercom".into()),
            ("norm", yes(normalized)),
            ("punct", yes(!no_punct)),
            ("asian", yes(asian_support)),
        ];
        if tercom {
            signature.push(("variant", TERCOM.into()));
        }
        signature
    }
}

impl Metric for Ter {
    fn counters<'a>(&'a self, texts: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        let resolution = texts.references.resolution();
        Ok(if self.words.tercom {
            Box::new(move || Box::new(self.counter::<Tercom>(resolution)))
        } else {
            Box::new(move || Box::new(self.counter::<SacreBleu>(resolution)))
        })
    }
}
