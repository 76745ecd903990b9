//! F-score over dependency relations (Riezler & Maxwell 2005, W05-0908, section 3, on parses in CoNLL-U).
//!
//! A relation is a triple: the head's form, the relation and the dependent's form; the head of a root is `ROOT`. The
//! relations of a segment are a multiset. The overlap of two multisets ignores where in the sentence a triple occurs,
//! so translations whose words do not align can be compared.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::text::{LOWERCASE, case, cased, yes};
use super::{Counter, Counters, Formula, Metric, MetricSpec, OptionSpec, Texts};
use crate::error::{Column, Result};
use crate::pool::{Run, Stop};
use crate::text::conllu;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "depf",
    about: "F-score over dependency relations (reads parses in CoNLL-U instead of text)",
    source: "W05-0908",
    reads_parses: true,
    options: &[
        OptionSpec::flag("unlabelled", "compare head and dependent only, not the relation between them"),
        OptionSpec::flag("lemma", "compare lemmas instead of word forms"),
        LOWERCASE,
        OptionSpec::flag("ignore_punct", "ignore relations named punct"),
    ],
    build: |options| {
        Ok(Box::new(DepF {
            unlabelled: options.flag("unlabelled"),
            lemma: options.flag("lemma"),
            lowercase: options.flag(LOWERCASE.name),
            ignore_punct: options.flag("ignore_punct"),
        }))
    },
};

/// The head of roots. Forms contain no tab, so it cannot be mistaken for a word.
const ROOT: &str = "\tROOT";

/// F-score over dependency relations. A row is `[match, hyp, ref]`: the numbers of matching relations, of relations of
/// the hypothesis and of the reference. With several references, the first one with the best F-score counts.
pub struct DepF {
    unlabelled: bool,
    lemma: bool,
    lowercase: bool,
    ignore_punct: bool,
}

impl DepF {
    /// Counts the relations of a block.
    fn relations(&self, block: &str, stop: &Stop<'_>) -> Result<Relations> {
        let mut relations = Relations::default();
        conllu::sentences(block, |words| {
            stop.charge(256 * words.len())?;
            let spelled = |word: &conllu::Word<'_>| {
                cased(if self.lemma { word.lemma } else { word.form }, self.lowercase, &mut String::new()).to_owned()
            };
            for word in words.iter().filter(|word| !(self.ignore_punct && is_punct(word.relation))) {
                let head = if word.head == 0 { ROOT.into() } else { spelled(&words[word.head - 1]) };
                let relation = if self.unlabelled { String::new() } else { word.relation.to_owned() };
                *relations.entry([head, relation, spelled(word)]).or_default() += 1;
            }
            Ok(())
        })?;
        Ok(relations)
    }
}

/// Is the relation `punct` or a subtype of it?
fn is_punct(relation: &str) -> bool {
    relation.split(':').next() == Some("punct")
}

type Relations = HashMap<[String; 3], i64, FixedState>;

fn size(relations: &Relations) -> i64 {
    relations.values().sum()
}

// In floats, because twice a sum of counts, or two of them, may not fit in 64 bits.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

impl Formula for DepF {
    fn name(&self) -> &str {
        "DepF"
    }

    fn columns(&self) -> Vec<String> {
        ["match", "hyp", "ref"].map(Into::into).into()
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![
            case(self.lowercase),
            ("rel", yes(!self.unlabelled)),
            ("word", if self.lemma { "lemma" } else { "form" }.into()),
            ("punct", yes(!self.ignore_punct)),
        ]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        // 2PR/(P + R), simplified.
        100.0 * ratio(2.0 * totals[0] as f64, totals[1] as f64 + totals[2] as f64)
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let [matched, hypothesis, reference] = [totals[0], totals[1], totals[2]].map(|count| count as f64);
        vec![
            ("precision".into(), 100.0 * ratio(matched, hypothesis)),
            ("recall".into(), 100.0 * ratio(matched, reference)),
            ("match".into(), matched),
            ("hyp".into(), hypothesis),
            ("ref".into(), reference),
        ]
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        let relations = totals[1] as f64 + totals[2] as f64;
        let by_relations = -ratio(self.score(totals), relations);
        out.copy_from_slice(&[ratio(200.0, relations), by_relations, by_relations]);
    }
}

impl Metric for DepF {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(DepFCounter { depf: self })))
    }
}

struct DepFCounter<'a> {
    depf: &'a DepF,
}

impl Counter for DepFCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let parsed_references: Vec<Relations> = references
            .iter()
            .enumerate()
            .map(|(i, block)| {
                self.depf.relations(block, stop).map_err(|error| error.in_column(Column::Reference(i + 1)))
            })
            .collect::<Result<_>>()?;
        for (i, (block, best)) in hypotheses.iter().zip(rows.chunks_exact_mut(3)).enumerate() {
            let hypothesis =
                self.depf.relations(block, stop).map_err(|error| error.in_column(Column::System(i + 1)))?;
            for (first, reference) in parsed_references.iter().enumerate() {
                let common = |(triple, &count): (_, &i64)| count.min(reference.get(triple).copied().unwrap_or(0));
                let row = [hypothesis.iter().map(common).sum(), size(&hypothesis), size(reference)];
                // F is 2m/(h + r), compared without division so that ties are exact.
                let better = i128::from(row[0]) * i128::from(best[1] + best[2])
                    > i128::from(best[0]) * i128::from(row[1] + row[2]);
                if first == 0 || better {
                    best.copy_from_slice(&row);
                }
            }
        }
        Ok(())
    }
}
