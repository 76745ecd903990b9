//! Lists of words for METEOR where its jar is not named.

use std::collections::{HashMap, HashSet};

/// The function words of a language, by METEOR's code: words whose relative frequency in a large corpus is above 10^-3
/// (Denkowski & Lavie 2011, W11-2107). These are METEOR's. No words for other languages, as in METEOR.
pub(super) fn function_words(code: &str) -> HashSet<String> {
    let words = match code {
        "en" => ENGLISH,
        "cz" => CZECH,
        "de" => GERMAN,
        "es" => SPANISH,
        "fr" => FRENCH,
        "ru" => RUSSIAN,
        _ => "",
    };
    words.split_ascii_whitespace().map(Into::into).collect()
}

const ENGLISH: &str = r#"
    " $ ' 's 't ( ) , - -- -lrb- -rrb- . : ? a about after all also an and are as at be been but by can could first
    for from had has have he her his i if in into is it its last more new no not of on one or other out over people
    s said she so some than that the their there they this time to two up was we were what when which who will with
    would year years you — ’ “ ”
"#;

const CZECH: &str = r#"
    " ( ) , - -lrb- -rrb- . ... : ? a aby ale ani až bude by byl bylo být co do i jak jako je jeho jen ještě jsem
    jsme jsou k když která které který má na nebo není než o od po podle pro před při s sa se si tak také to u už v
    ve však z za ze že “ „
"#;

const GERMAN: &str = r#"
    ! " ( ) , - -lrb- -rrb- . : ? aber als am an auch auf aus bei bis dann das dass dem den der des die diese dieser
    doch durch ein eine einem einen einer er es euro für gegen habe haben hat hatte ich ihre im in ist kann können
    man mehr mit nach nicht noch nur oder prozent sagte schon sei sein seine sich sie sind so um und unter von vor
    war was wenn werden wie wieder wir wird wurde zu zum zur über – “ „
"#;

const SPANISH: &str = r#"
    " % ' ( ) , -lrb- -rrb- . : a al año años comisión como con cuando de del desde dos el en entre es esta este
    está europea ha han hasta hay la las le lo los muy más no o para parte pero por presidente que se ser si sin
    sobre son su sus también todo todos un una y ya « »
"#;

const FRENCH: &str = r#"
    " % ( ) , - -lrb- -rrb- . : ; ? a ans après au aussi aux avait avec c' ce ces cette comme d d' dans de depuis
    des deux du elle en entre est et faire fait h il ils je l l' la le les leur mais même n' ne nous on ont ou par
    pas plus pour président qu' que qui s' sa se ses si son sont sur tout un une y « » à était été être ’
"#;

const RUSSIAN: &str = r#"
    " % ( ) , - -- . : ? а более будет был было в во время все года году для до его если еще же за и из или их к как
    когда которые может мы на не но о он они от по после при россии с так также то только том у уже что чтобы это
    этом я
"#;

/// Words after which a dot does not end a sentence.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prefixes {
    /// Whether the word needs a number after it.
    words: HashMap<String, bool>,
}

impl Prefixes {
    /// The common abbreviations of a language, by METEOR's code. METEOR's jar has lists of its own. No words for Czech and
    /// languages for which METEOR has no rules of punctuation.
    pub(super) fn built_in(code: &str) -> Self {
        let mut prefixes = Prefixes::default();
        let (always, before_numbers) = match code {
            "en" => ENGLISH_ABBREVIATIONS,
            "de" => GERMAN_ABBREVIATIONS,
            "es" => SPANISH_ABBREVIATIONS,
            "fr" => FRENCH_ABBREVIATIONS,
            "ru" => RUSSIAN_ABBREVIATIONS,
            _ => return prefixes,
        };
        before_numbers.split_ascii_whitespace().for_each(|word| prefixes.insert(word, true));
        always.split_ascii_whitespace().for_each(|word| prefixes.insert(word, false));
        ('A'..='Z').for_each(|initial| prefixes.insert(&initial.to_string(), false));
        if ["de", "fr"].contains(&code) {
            ('a'..='z').for_each(|letter| prefixes.insert(&letter.to_string(), false));
        }
        if code == "de" {
            // Ordinal numbers.
            (1..100).for_each(|number| prefixes.insert(&number.to_string(), false));
        }
        prefixes
    }

    /// Adds a word, which may have to come before a number.
    pub(super) fn insert(&mut self, word: &str, before_number: bool) {
        let known = self.words.entry(word.into()).or_insert(before_number);
        *known &= before_number;
    }

    /// Does a dot after the word not end a sentence?
    pub(super) fn contain(&self, word: &str, before_number: bool) -> bool {
        self.words.get(word).is_some_and(|&needs_number| before_number || !needs_number)
    }
}

/// Abbreviations, and those that are words unless a number follows. Initials are added to them.
type Abbreviations = (&'static str, &'static str);

const ENGLISH_ABBREVIATIONS: Abbreviations = (
    "
    Adm Asst Bart Bldg Brig Bros Capt Cmdr Cmdt Col Corp Cpl Dr Drs Ens Esq Fr Gen Gov Hon Hosp Insp Jr Lt Ltd Maj
    Messrs Mlle Mme Mmes Mr Mrs Ms Msgr Mt Nos Nr Ph Pres Prof Profs Pt Pvt Rep Reps Rev Revd Rt Sen Sens Sgt Sr St Sts
    Supt Surg
    Jan Feb Mar Apr Jun Jul Aug Sept Oct Nov Dec
    approx cf dept e.g est i.e v viz vs
    ",
    "Art Ch Fig No Vol art fig no p pp vol",
);

const GERMAN_ABBREVIATIONS: Abbreviations = (
    "
    Abb Abk Abs Abt Anm Art Aufl Bd Bde Bf Bhf Bsp Bt Chr Co Corp Dipl Dir Dr Fa Fr Frl Forts Gebr Gen Hr Hrn Hrsg Ing Inh
    Jh Jr Kap Kfm Lt Ltd Med Mio Mr Mrd Mrs Ms MwSt Nr Nrn Pf Pfd Prof Prov Red Ref Reg Sen Sr St Std Str Tel Tsd Ver Verf
    Verl Vors Zt
    Jan Feb Mrz Apr Jun Jul Aug Sep Sept Okt Nov Dez
    II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX XX
    abds abzgl allg bes bez bzgl bzw ca d.h d.J dgl e.V ebd eigtl einschl etc evtl exkl ff geb gegr gest gez ggf i.A i.d.R
    i.H.v i.V inkl insb jmd m.E max min Mill o.a o.g o.ä s.o s.u sog sogen spez u.a u.U u.v.m u.ä usf usw v.a v.Chr vgl vs
    z.B z.T z.Zt zit zz zzgl zzt
    ",
    "Ca No ca pp",
);

const SPANISH_ABBREVIATIONS: Abbreviations = (
    "
    Abg Apdo Arq Art Av Avda Bco Cap Cdad Cf Cía Col Da Dep Depto Dn Dpto Dr Dra Dras Dres EE.UU Excma Excmo Fr Gob Gral
    Hno Hnos Ilma Ilmo Ing J.C Lcda Lcdo Lic Ltda Mons Mtro N.B Ntra Núm P.D Pág Págs Pbro Pdte Prof Profa Pte Pza Rte S.A
    S.L S.M Sr Sra Sras Sres Srta Sta Sto Tel Ud Uds Vd Vda Vds Vol
    adj afmo aprox art cap cf cm cta dcha doc dpto ed ej entlo etc fig gr h izq izqda kg km máx mg mín mm ms no núm núms p.ej
    pág págs párr pl pp ptas s.f sig sigs ss tel trad vid vol vols vs
    ",
    "",
);

const FRENCH_ABBREVIATIONS: Abbreviations = (
    "
    Adj Art Av Bd Boul Capt Cdt Chap Cie Col Dir Dr Drs Ed Ets Fig Gal Gén Ing Lt Me Mgr Mlle MM Mme Mmes Mrs N.B N.D Pr Prof
    P.S R.P S.A S.M S.S Sgt St Ste Sté Tél Vve
    adj al ann apr art auj av bd bibl bd c.-à-d cap cf ch chap col coll dir doc éd env ép etc ex fasc fém fig fr hab ibid id
    i.e inf int l.c lib loc.cit masc max min ms n.b obs op.cit p.ex par paragr pl plur pp préf quelq réf s.d sc sect sing sq
    sqq ss St suiv sup suppl tél trad vb v.g vol vols vs zool
    janv févr avr juil sept oct nov déc
    ",
    "",
);

const RUSSIAN_ABBREVIATIONS: Abbreviations = (
    "
    акад англ асп бул бульв в вв внутр вып г гг гл гор гос гр греч д дер дм доб докт доп доц др е ед ж жит зав зам и изд им
    инд инж ин-т искл исп Исп итал к канд кап кв кг кл км кн кол колич комн коп корп куб л лат лиц лл м макс мг мес мин мл млн
    млрд мм н наб назв напр нар нас нац нач неуд нем ном нп о обл обр общ обяз ок оз окр орг ост отв отд отл п пгт пер перераб
    пл пос пп пр прил прим проф просп проч р разд разг ред рис род руб с сб св сек сер см соавт соотв сост соч сп спец ср ст
    стр т табл т.д т.е т.к т.н т.п таб тел Тел тех тов тт туп тыс у уд ул ун-т урожд ур уч фам физ фр франц х хим хор ц ч чел
    чл шир шт экз эл э янв февр авг сент окт нояб дек
    ",
    "",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_are_listed_for_six_languages() {
        let numbers = ["en", "cz", "de", "es", "fr", "ru", "fi", "other"].map(|code| function_words(code).len());
        assert_eq!([93, 68, 92, 66, 85, 62, 0, 0], numbers);
        assert!(function_words("en").contains("the") && !function_words("en").contains("The"));
    }

    #[test]
    fn lists_are_sorted() {
        for list in [ENGLISH, CZECH, GERMAN, SPANISH, FRENCH, RUSSIAN] {
            assert!(list.split_ascii_whitespace().is_sorted_by(|a, b| a < b), "{list}");
        }
    }

    #[test]
    fn some_abbreviations_need_a_number() {
        let english = Prefixes::built_in("en");
        assert!(english.contain("Dr", false) && english.contain("Dr", true));
        assert!(!english.contain("No", false) && english.contain("No", true));
        assert!(english.contain("U", false) && !english.contain("u", false) && !english.contain("dog", true));
        let german = Prefixes::built_in("de");
        assert!(german.contain("u", false) && german.contain("99", false) && !german.contain("100", false));
        assert_eq!(Prefixes::default(), Prefixes::built_in("cz"));
    }

    #[test]
    fn a_word_that_also_stands_alone_needs_no_number() {
        let mut prefixes = Prefixes::default();
        for (before_number, needed) in [(true, true), (false, false), (true, false)] {
            prefixes.insert("No", before_number);
            assert_eq!(needed, !prefixes.contain("No", false));
        }
    }
}
