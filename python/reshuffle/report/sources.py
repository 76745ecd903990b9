"""The papers that reports cite, by the ids that registries and results name them with.

To add one: an ACL id, a DOI (``doi:…``) or, for a paper without either, a short name, as the key; then an
:class:`Entry`. A test checks that every source of a test, adjustment, interval or metric is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError, quoted


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper: its authors and year as texts cite it, its BibTeX key and type, and its other fields."""

    authors: str
    year: int
    key: str
    kind: str
    fields: Mapping[str, str]


def entries_of(source: str) -> list[str]:
    """The ids of the papers in a source of a registry, which may name several, and places in them.

    >>> entries_of("W05-0908, Fig. 1"), entries_of("Westfall & Young 1993; doi:10.1007/BF02595811")
    (['W05-0908'], ['Westfall & Young 1993', 'doi:10.1007/BF02595811'])
    """
    found = []
    for part in source.split("; "):
        ids = [key for key in ENTRIES if part == key or part.startswith(f"{key}, ")]
        if not ids:
            raise InputError(f"the source {quoted(part)} is not one that this version of reshuffle can cite")
        found += ids
    return found


def cited(source: str) -> str:
    """The papers in a source, as in the text of a paper, with their ids.

    >>> cited("W05-0908, Fig. 1")
    'Riezler and Maxwell, 2005, W05-0908'
    """
    return "; ".join(_cited(name) for name in entries_of(source))


def _cited(name: str) -> str:
    entry = ENTRIES[name]
    return f"{entry.authors}, {entry.year}" + ("" if " " in name else f", {name}")


def bibtex_entry(name: str) -> str:
    """The BibTeX entry of a paper."""
    entry = ENTRIES[name]
    fields = dict(entry.fields) | {"year": str(entry.year)}
    if name.startswith("doi:"):
        fields["doi"] = name.removeprefix("doi:")
    elif " " not in name:
        fields["url"] = f"https://aclanthology.org/{name}"
    lines = "".join(f"  {field:9} = {{{value}}},\n" for field, value in fields.items())
    return f"@{entry.kind}{{{entry.key},\n{lines}}}\n"


def _article(authors: str, year: int, key: str, author: str, title: str, journal: str, where: str) -> Entry:
    """``where`` is volume(number):pages, of which the last two may be missing."""
    volume, _, pages = where.partition(":")
    volume, _, number = volume.partition("(")
    fields = {"author": author, "title": title, "journal": journal, "volume": volume, "number": number.rstrip(")")}
    return Entry(authors, year, key, "article", {k: v for k, v in (fields | {"pages": pages}).items() if v})


def _paper(
    authors: str, year: int, key: str, author: str, title: str, booktitle: str, pages: str, doi: str = ""
) -> Entry:
    """A paper in the proceedings of a conference."""
    fields = {"author": author, "title": title, "booktitle": booktitle, "pages": pages, "doi": doi}
    return Entry(authors, year, key, "inproceedings", {k: v for k, v in fields.items() if v})


_JASA = "Journal of the American Statistical Association"
_WMT = "Proceedings of the {} Workshop on Statistical Machine Translation"

ENTRIES: Mapping[str, Entry] = {
    # Metrics.
    "P02-1040": _paper(
        "Papineni et al.", 2002, "papineni-etal-2002-bleu",
        "Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
        "{B}leu: a Method for Automatic Evaluation of Machine Translation",
        "Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics", "311--318",
        "10.3115/1073083.1073135",
    ),
    "W14-3346": _paper(
        "Chen and Cherry", 2014, "chen-cherry-2014-systematic", "Chen, Boxing and Cherry, Colin",
        "A Systematic Comparison of Smoothing Techniques for Sentence-Level {BLEU}", _WMT.format("Ninth"),
        "362--367", "10.3115/v1/W14-3346",
    ),
    "doi:10.5555/1289189.1289273": _paper(
        "Doddington", 2002, "doddington-2002-nist", "Doddington, George",
        "Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence Statistics",
        "Proceedings of the Second International Conference on Human Language Technology Research", "138--145",
    ),
    "W04-1013": _paper(
        "Lin", 2004, "lin-2004-rouge", "Lin, Chin-Yew", "{ROUGE}: A Package for Automatic Evaluation of Summaries",
        "Text Summarization Branches Out", "74--81",
    ),
    "Q16-1029": _article(
        "Xu et al.", 2016, "xu-etal-2016-optimizing",
        "Xu, Wei and Napoles, Courtney and Pavlick, Ellie and Chen, Quanze and Callison-Burch, Chris",
        "Optimizing Statistical Machine Translation for Text Simplification",
        "Transactions of the Association for Computational Linguistics", "4:401--415",
    ),
    "W15-3049": _paper(
        "Popović", 2015, "popovic-2015-chrf", r"Popovi{\'c}, Maja",
        "chr{F}: character n-gram {F}-score for automatic {MT} evaluation", _WMT.format("Tenth"), "392--395",
        "10.18653/v1/W15-3049",
    ),
    "W17-4770": _paper(
        "Popović", 2017, "popovic-2017-chrfpp", r"Popovi{\'c}, Maja",
        "chr{F}++: words helping character n-grams", "Proceedings of the Second Conference on Machine Translation",
        "612--618", "10.18653/v1/W17-4770",
    ),
    "2006.amta-papers.25": _paper(
        "Snover et al.", 2006, "snover-etal-2006-ter",
        "Snover, Matthew and Dorr, Bonnie and Schwartz, Rich and Micciulla, Linnea and Makhoul, John",
        "A Study of Translation Edit Rate with Targeted Human Annotation",
        "Proceedings of the 7th Conference of the Association for Machine Translation in the Americas", "223--231",
    ),
    "W07-0707": _paper(
        "Popović and Ney", 2007, "popovic-ney-2007-word", r"Popovi{\'c}, Maja and Ney, Hermann",
        "Word Error Rates: Decomposition over {POS} classes and Applications for Error Analysis",
        _WMT.format("Second"), "48--55",
    ),
    "doi:10.21437/Interspeech.2004-668": _paper(
        "Morris et al.", 2004, "morris-etal-2004-wil", "Morris, Andrew Cameron and Maier, Viktoria and Green, Phil",
        "From {WER} and {RIL} to {MER} and {WIL}: improved evaluation measures for connected speech recognition",
        "Proceedings of Interspeech 2004", "2765--2768", "10.21437/Interspeech.2004-668",
    ),
    "W14-3348": _paper(
        "Denkowski and Lavie", 2014, "denkowski-lavie-2014-meteor", "Denkowski, Michael and Lavie, Alon",
        "Meteor Universal: Language Specific Translation Evaluation for Any Target Language", _WMT.format("Ninth"),
        "376--380", "10.3115/v1/W14-3348",
    ),
    "N03-2021": _paper(
        "Melamed et al.", 2003, "melamed-etal-2003-precision",
        "Melamed, I. Dan and Green, Ryan and Turian, Joseph P.", "Precision and Recall of Machine Translation",
        "Companion Volume of the Proceedings of {HLT}-{NAACL} 2003 - Short Papers", "61--63",
    ),
    "2003.mtsummit-papers.51": _paper(
        "Turian et al.", 2003, "turian-etal-2003-evaluation",
        "Turian, Joseph P. and Shen, Luke and Melamed, I. Dan", "Evaluation of machine translation and its evaluation",
        "Proceedings of Machine Translation Summit IX: Papers", "",
    ),
    "D16-1264": _paper(
        "Rajpurkar et al.", 2016, "rajpurkar-etal-2016-squad",
        "Rajpurkar, Pranav and Zhang, Jian and Lopyrev, Konstantin and Liang, Percy",
        "{SQ}u{AD}: 100,000+ Questions for Machine Comprehension of Text",
        "Proceedings of the 2016 Conference on Empirical Methods in Natural Language Processing", "2383--2392",
        "10.18653/v1/D16-1264",
    ),
    "W03-0419": _paper(
        "Tjong Kim Sang and De Meulder", 2003, "tjong-kim-sang-de-meulder-2003-introduction",
        "Tjong Kim Sang, Erik F. and De Meulder, Fien",
        "Introduction to the {C}o{NLL}-2003 Shared Task: Language-Independent Named Entity Recognition",
        "Proceedings of the Seventh Conference on Natural Language Learning at {HLT}-{NAACL} 2003", "142--147",
    ),
    "doi:10.1016/j.compbiolchem.2004.09.006": _article(
        "Gorodkin", 2004, "gorodkin-2004-comparing", "Gorodkin, Jan",
        "Comparing two {K}-category assignments by a {K}-category correlation coefficient",
        "Computational Biology and Chemistry", "28(5-6):367--374",
    ),
    "doi:10.1177/001316446002000104": _article(
        "Cohen", 1960, "cohen-1960-coefficient", "Cohen, Jacob", "A Coefficient of Agreement for Nominal Scales",
        "Educational and Psychological Measurement", "20(1):37--46",
    ),
    # Tests.
    "W05-0908": _paper(
        "Riezler and Maxwell", 2005, "riezler-maxwell-2005-pitfalls", "Riezler, Stefan and Maxwell, John T.",
        "On Some Pitfalls in Automatic Evaluation and Significance Testing for {MT}",
        "Proceedings of the ACL Workshop on Intrinsic and Extrinsic Evaluation Measures for Machine Translation "
        "and/or Summarization", "57--64",
    ),
    "W04-3250": _paper(
        "Koehn", 2004, "koehn-2004-statistical", "Koehn, Philipp",
        "Statistical Significance Tests for Machine Translation Evaluation",
        "Proceedings of the 2004 Conference on Empirical Methods in Natural Language Processing", "388--395",
    ),
    "doi:10.1214/13-AOS1090": _article(
        "Chung and Romano", 2013, "chung-romano-2013-exact", "Chung, EunYi and Romano, Joseph P.",
        "Exact and asymptotically robust permutation tests", "The Annals of Statistics", "41(2):484--507",
    ),
    "doi:10.3982/ECTA11011": _article(
        "Romano et al.", 2014, "romano-etal-2014-practical", "Romano, Joseph P. and Shaikh, Azeem M. and "
        "Wolf, Michael", "A Practical Two-Step Method for Testing Moment Inequalities", "Econometrica",
        "82(5):1979--2002",
    ),
    "doi:10.1145/2094072.2094076": _article(
        "Carterette", 2012, "carterette-2012-multiple", "Carterette, Benjamin A.",
        "Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments",
        "ACM Transactions on Information Systems", "30(1):4:1--4:34",
    ),
    "doi:10.1007/BF01068419": _article(
        "Schuirmann", 1987, "schuirmann-1987-comparison", "Schuirmann, Donald J.",
        "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of "
        "Average Bioavailability", "Journal of Pharmacokinetics and Biopharmaceutics", "15(6):657--680",
    ),
    "doi:10.1080/01621459.1969.10501057": _article(
        "Hartigan", 1969, "hartigan-1969-subsample", "Hartigan, J. A.",
        "Using Subsample Values as Typical Values", _JASA, "64(328):1303--1317",
    ),
    "doi:10.1080/01621459.1970.10481082": _article(
        "Davidson", 1970, "davidson-1970-extending", "Davidson, Roger R.",
        "On Extending the {B}radley--{T}erry Model to Accommodate Ties in Paired Comparison Experiments", _JASA,
        "65(329):317--328",
    ),
    "doi:10.2307/2334029": _article(
        "Bradley and Terry", 1952, "bradley-terry-1952-rank", "Bradley, Ralph Allan and Terry, Milton E.",
        "Rank Analysis of Incomplete Block Designs: {I}. {T}he Method of Paired Comparisons", "Biometrika",
        "39(3/4):324--345",
    ),
    "doi:10.2307/2532163": _article(
        "Hall and Wilson", 1991, "hall-wilson-1991-two", "Hall, Peter and Wilson, Susan R.",
        "Two Guidelines for Bootstrap Hypothesis Testing", "Biometrics", "47(2):757--762",
    ),
    # The source of bootstrap-both in results of earlier versions.
    "Berger 1982": _article(
        "Berger", 1982, "berger-1982-multiparameter", "Berger, Roger L.",
        "Multiparameter Hypothesis Testing and Acceptance Sampling", "Technometrics", "24(4):295--300",
    ),
    "doi:10.1017/CBO9780511802843": Entry(
        "Davison and Hinkley", 1997, "davison-hinkley-1997-bootstrap", "book",
        {"author": "Davison, A. C. and Hinkley, D. V.", "title": "Bootstrap Methods and their Application",
         "publisher": "Cambridge University Press"},
    ),
    "doi:10.1093/biomet/6.1.1": _article(
        "Student", 1908, "student-1908-probable", "{Student}", "The Probable Error of a Mean", "Biometrika",
        "6(1):1--25",
    ),
    "doi:10.2307/3001968": _article(
        "Wilcoxon", 1945, "wilcoxon-1945-individual", "Wilcoxon, Frank",
        "Individual Comparisons by Ranking Methods", "Biometrics Bulletin", "1(6):80--83",
    ),
    "doi:10.1080/01621459.1946.10501898": _article(
        "Dixon and Mood", 1946, "dixon-mood-1946-statistical", "Dixon, W. J. and Mood, A. M.",
        "The Statistical Sign Test", _JASA, "41(236):557--566",
    ),
    # Replicates and stopping rules.
    "doi:10.2202/1544-6115.1585": _article(
        "Phipson and Smyth", 2010, "phipson-smyth-2010-permutation", "Phipson, Belinda and Smyth, Gordon K.",
        "Permutation {P}-values Should Never Be Zero: Calculating Exact {P}-values When Permutations Are Randomly "
        "Drawn", "Statistical Applications in Genetics and Molecular Biology", "9(1)",
    ),
    "doi:10.1007/s11749-017-0571-1": _article(
        "Hemerik and Goeman", 2018, "hemerik-goeman-2018-exact", "Hemerik, Jesse and Goeman, Jelle",
        "Exact testing with random permutations", "TEST", "27(4):811--825",
    ),
    "doi:10.1093/biomet/78.2.301": _article(
        "Besag and Clifford", 1991, "besag-clifford-1991-sequential", "Besag, Julian and Clifford, Peter",
        "Sequential {M}onte {C}arlo p-values", "Biometrika", "78(2):301--304",
    ),
    "doi:10.1198/jasa.2009.tm08368": _article(
        "Gandy", 2009, "gandy-2009-sequential", "Gandy, Axel",
        "Sequential Implementation of {M}onte {C}arlo Tests With Uniformly Bounded Resampling Risk", _JASA,
        "104(488):1504--1511",
    ),
    # Adjustments for multiple tests.
    "doi:10.1080/01621459.1961.10482090": _article(
        "Dunn", 1961, "dunn-1961-multiple", "Dunn, Olive Jean", "Multiple Comparisons Among Means", _JASA,
        "56(293):52--64",
    ),
    "Holm 1979": _article(
        "Holm", 1979, "holm-1979-simple", "Holm, Sture", "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics", "6(2):65--70",
    ),
    "doi:10.1080/01621459.1967.10482935": _article(
        "Šidák", 1967, "sidak-1967-rectangular", r"{\v{S}}id{\'a}k, Zbyn{\v{e}}k",
        "Rectangular Confidence Regions for the Means of Multivariate Normal Distributions", _JASA,
        "62(318):626--633",
    ),
    "doi:10.1093/biomet/75.4.800": _article(
        "Hochberg", 1988, "hochberg-1988-sharper", "Hochberg, Yosef",
        "A Sharper {B}onferroni Procedure for Multiple Tests of Significance", "Biometrika", "75(4):800--802",
    ),
    "doi:10.1093/biomet/75.2.383": _article(
        "Hommel", 1988, "hommel-1988-stagewise", "Hommel, G.",
        "A Stagewise Rejective Multiple Test Procedure Based on a Modified {B}onferroni Test", "Biometrika",
        "75(2):383--386",
    ),
    "doi:10.1111/j.2517-6161.1995.tb02031.x": _article(
        "Benjamini and Hochberg", 1995, "benjamini-hochberg-1995-controlling",
        "Benjamini, Yoav and Hochberg, Yosef",
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B", "57(1):289--300",
    ),
    "doi:10.1214/aos/1013699998": _article(
        "Benjamini and Yekutieli", 2001, "benjamini-yekutieli-2001-control",
        "Benjamini, Yoav and Yekutieli, Daniel",
        "The Control of the False Discovery Rate in Multiple Testing under Dependency", "The Annals of Statistics",
        "29(4):1165--1188",
    ),
    "Westfall & Young 1993": Entry(
        "Westfall and Young", 1993, "westfall-young-1993-resampling", "book",
        {"author": "Westfall, Peter H. and Young, S. Stanley",
         "title": "Resampling-Based Multiple Testing: Examples and Methods for p-Value Adjustment",
         "publisher": "Wiley"},
    ),
    "doi:10.1007/BF02595811": _article(
        "Ge et al.", 2003, "ge-etal-2003-resampling", "Ge, Youngchao and Dudoit, Sandrine and Speed, Terence P.",
        "Resampling-based Multiple Testing for Microarray Data Analysis", "Test", "12(1):1--77",
    ),
    "Tukey 1953": Entry(
        "Tukey", 1953, "tukey-1953-problem", "unpublished",
        {"author": "Tukey, John W.", "title": "The Problem of Multiple Comparisons",
         "note": "Mimeographed manuscript, Princeton University"},
    ),
    "doi:10.1093/biomet/40.1-2.87": _article(
        "Scheffé", 1953, "scheffe-1953-method", r"Scheff{\'e}, Henry",
        "A Method for Judging All Contrasts in the Analysis of Variance", "Biometrika", "40(1-2)",
    ),
    # Intervals and standard errors.
    "doi:10.1201/9780429246593": Entry(
        "Efron and Tibshirani", 1994, "efron-tibshirani-1994-introduction", "book",
        {"author": "Efron, Bradley and Tibshirani, R. J.", "title": "An Introduction to the Bootstrap",
         "publisher": "Chapman and Hall/CRC"},
    ),
    "doi:10.1080/01621459.1987.10478410": _article(
        "Efron", 1987, "efron-1987-better", "Efron, Bradley", "Better Bootstrap Confidence Intervals", _JASA,
        "82(397):171--185",
    ),
    "doi:10.1214/aos/1176350933": _article(
        "Hall", 1988, "hall-1988-theoretical", "Hall, Peter",
        "Theoretical Comparison of Bootstrap Confidence Intervals", "The Annals of Statistics", "16(3):927--953",
    ),
    "doi:10.1093/biomet/68.3.589": _article(
        "Efron", 1981, "efron-1981-nonparametric", "Efron, Bradley",
        "Nonparametric Estimates of Standard Error: The Jackknife, the Bootstrap and Other Methods", "Biometrika",
        "68(3):589--599",
    ),
    "doi:10.1214/aos/1176345462": _article(
        "Efron and Stein", 1981, "efron-stein-1981-jackknife", "Efron, B. and Stein, C.",
        "The Jackknife Estimate of Variance", "The Annals of Statistics", "9(3):586--596",
    ),
    # Agreement of metrics with people.
    "doi:10.1098/rspl.1895.0041": _article(
        "Pearson", 1895, "pearson-1895-note", "Pearson, Karl",
        "Note on Regression and Inheritance in the Case of Two Parents",
        "Proceedings of the Royal Society of London", "58:240--242",
    ),
    "doi:10.2307/1412159": _article(
        "Spearman", 1904, "spearman-1904-proof", "Spearman, C.",
        "The Proof and Measurement of Association between Two Things", "The American Journal of Psychology",
        "15(1):72--101",
    ),
    "doi:10.1093/biomet/33.3.239": _article(
        "Kendall", 1945, "kendall-1945-treatment", "Kendall, M. G.", "The Treatment of Ties in Ranking Problems",
        "Biometrika", "33(3):239--251",
    ),
    "doi:10.1093/biomet/40.1-2.105": _article(
        "Stuart", 1953, "stuart-1953-estimation", "Stuart, A.",
        "The Estimation and Comparison of Strengths of Association in Contingency Tables", "Biometrika",
        "40(1/2):105--110",
    ),
    "D14-1020": _paper(
        "Graham and Baldwin", 2014, "graham-baldwin-2014-testing", "Graham, Yvette and Baldwin, Timothy",
        "Testing for Significance of Increased Correlation with Human Judgment",
        "Proceedings of the 2014 Conference on Empirical Methods in Natural Language Processing", "172--176",
        "10.3115/v1/D14-1020",
    ),
    "W17-4755": _paper(
        "Bojar et al.", 2017, "bojar-etal-2017-results", r"Bojar, Ond{\v{r}}ej and Graham, Yvette and Kamran, Amir",
        "Results of the {WMT}17 Metrics Shared Task", "Proceedings of the Second Conference on Machine Translation",
        "489--513",
    ),
    "2021.wmt-1.57": _paper(
        "Kocmi et al.", 2021, "kocmi-etal-2021-ship",
        "Kocmi, Tom and Federmann, Christian and Grundkiewicz, Roman and Junczys-Dowmunt, Marcin and "
        "Matsushita, Hitokazu and Menezes, Arul",
        "To Ship or Not to Ship: An Extensive Evaluation of Automatic Metrics for Machine Translation",
        "Proceedings of the Sixth Conference on Machine Translation", "478--494",
    ),
    "doi:10.1198/jbes.2010.07136": _article(
        "Cameron et al.", 2011, "cameron-etal-2011-robust",
        "Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.",
        "Robust Inference with Multiway Clustering", "Journal of Business & Economic Statistics", "29(2):238--249",
    ),
    "doi:10.1162/tacl_a_00417": _article(
        "Deutsch et al.", 2021, "deutsch-etal-2021-statistical", "Deutsch, Daniel and Dror, Rotem and Roth, Dan",
        "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods",
        "Transactions of the Association for Computational Linguistics", "9:1132--1146",
    ),
    "2023.emnlp-main.798": _paper(
        "Deutsch et al.", 2023, "deutsch-etal-2023-ties", "Deutsch, Daniel and Foster, George and Freitag, Markus",
        "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration",
        "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing", "12914--12929",
    ),
    "2024.wmt-1.118": _paper(
        "Thompson et al.", 2024, "thompson-etal-2024-improving",
        "Thompson, Brian and Mathur, Nitika and Deutsch, Daniel and Khayrallah, Huda",
        "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy",
        "Proceedings of the Ninth Conference on Machine Translation", "1222--1234",
    ),
    # What people say of systems.
    "W08-0309": _paper(
        "Callison-Burch et al.", 2008, "callison-burch-etal-2008-meta",
        "Callison-Burch, Chris and Fordyce, Cameron and Koehn, Philipp and Monz, Christof and Schroeder, Josh",
        "Further Meta-Evaluation of Machine Translation", _WMT.format("Third"), "70--106",
    ),
    "W12-3102": _paper(
        "Callison-Burch et al.", 2012, "callison-burch-etal-2012-findings",
        "Callison-Burch, Chris and Koehn, Philipp and Monz, Christof and Post, Matt and Soricut, Radu and "
        "Specia, Lucia", "Findings of the 2012 Workshop on Statistical Machine Translation", _WMT.format("Seventh"),
        "10--51",
    ),
    "W13-2201": _paper(
        "Bojar et al.", 2013, "bojar-etal-2013-findings",
        r"Bojar, Ond{\v{r}}ej and Buck, Christian and Callison-Burch, Chris and Federmann, Christian and "
        "Haddow, Barry and Koehn, Philipp and Monz, Christof and Post, Matt and Soricut, Radu and Specia, Lucia",
        "Findings of the 2013 Workshop on Statistical Machine Translation", _WMT.format("Eighth"), "1--44",
    ),
    # Rankings and power.
    "doi:10.1093/restud/rdad006": _article(
        "Mogstad et al.", 2024, "mogstad-etal-2024-inference",
        "Mogstad, Magne and Romano, Joseph P. and Shaikh, Azeem M. and Wilhelm, Daniel",
        "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across "
        "Countries", "The Review of Economic Studies", "91(1):476--518",
    ),
    "doi:10.1198/1061860043515": _article(
        "Piepho", 2004, "piepho-2004-algorithm", "Piepho, Hans-Peter",
        "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
        "Journal of Computational and Graphical Statistics", "13(2):456--466",
    ),
    "Hsu 1981": _article(
        "Hsu", 1981, "hsu-1981-simultaneous", "Hsu, Jason C.",
        "Simultaneous Confidence Intervals for all Distances from the ``Best''", "The Annals of Statistics",
        "9(5):1026--1034",
    ),
    "2020.emnlp-main.745": _paper(
        "Card et al.", 2020, "card-etal-2020-little",
        "Card, Dallas and Henderson, Peter and Khandelwal, Urvashi and Jia, Robin and Mahowald, Kyle and "
        "Jurafsky, Dan", "With Little Power Comes Great Responsibility",
        "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing", "9263--9274",
        "10.18653/v1/2020.emnlp-main.745",
    ),
}  # fmt: skip
