"""Options that several commands share, each declared once; and how commands read their data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qrowd.cli import input_files as reading
from qrowd.cli.completion import measure_names, method_names
from qrowd.cli.input_files import NO_RUNS as NO_RUNS
from qrowd.cli.input_files import Runs as Runs
from qrowd.cli.input_files import data_option, show_notes, table_settings
from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions, Duplicates
from qrowd.model.conventions import Repeats as RepeatsChoice

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences

DATABASE = "judgments.db"
SOURCES = {"judgments", "campaign", "database", "names", "clusters"}  # other options say how judgments are read


def option(*names: str, panel: str | None = None, **settings: Any) -> Any:
    """An option in a panel of the help text; it is named after the parameter where no names are given."""
    return typer.Option(*names, rich_help_panel=panel, **settings)


def convention(**settings: Any) -> Any:
    """An option that changes how numbers are computed."""
    return option(panel="Conventions", **settings)


def conventions_named(*names: str) -> dict[str, Any]:
    """The conventions of these names alone, for `Annotated[Conventions, ...]`."""
    return {name: CONVENTIONS[name] for name in names}


# ---------------------------------------------------------------------- what is read

Campaign = Annotated[
    str | None,
    data_option(help="Campaign, or one arm of it: NAME/ARM, that is read instead of files.", metavar="NAME"),
]
Names = Annotated[
    bool, data_option("--names", help="Name the people of a campaign and their platform ids, not pseudonyms.")
]
RetentionDays = Annotated[
    float | None,
    option(
        help="Days after the end of a campaign for which names are kept, where it does not say.",
        metavar="DAYS",
        min=0,
        show_default="without end",
        envvar="QROWD_RETENTION_DAYS",
    ),
]
Database = Annotated[
    str,
    data_option(
        help="Database of campaigns: a SQLite file or postgresql://...",
        envvar="QROWD_DATABASE",
        metavar="DATABASE",
    ),
]
Assessor = Annotated[
    Literal["file", "column"], data_option(help="Name of the assessor: the name of the file, or a column of the file.")
]

JudgmentsOption = Annotated[
    list[str] | None,
    data_option(
        help="Judgment files: one assessor per file, or tables with a column of assessors.",
        metavar="FILES",
    ),
]


@dataclass(frozen=True)
class Data:
    """Where judgments come from, and what they mean."""

    judgments: JudgmentsOption = None
    campaign: Campaign = None
    database: Database = DATABASE
    names: Names = False
    assessor: Assessor = "file"
    columns: reading.Columns = None
    labels: reading.Labels = None
    incomplete_rows: reading.IncompleteRows = "refuse"
    identical_rows: reading.IdenticalRows = "keep"
    recode: Annotated[
        str | None, data_option(help="TOML file that says which grades are replaced by which.", metavar="FILE")
    ] = None
    scale: reading.Scale = None
    exclude: reading.Exclude = None
    normalise: reading.Normalise = None
    clusters: reading.Clusters = None
    slots: Annotated[
        int | None,
        data_option(help="Take the first N judgments of each document as N assessors.", metavar="N"),
    ] = None
    FINAL = True  # of a campaign: final answers of owners replace those of assessors
    _show_notes = staticmethod(show_notes)  # of a campaign

    def read(self) -> Judgments:
        """The judgments, recoded, on the declared scales, and in slots where that is asked for."""
        return self._noted(self._in_slots(self._normalised(self._settled(self._collected()))))

    def _in_slots(self, judgments: Judgments) -> Judgments:
        """The first judgments of each document, where that is asked for; of whom most are left out is told."""
        if self.slots is None:
            return judgments
        slots = judgments.slots(self.slots)
        show_notes(slots.notes[len(judgments.notes) :])
        return slots

    def _noted(self, judgments: Judgments) -> Judgments:
        """With the options by which they were read, for signatures."""
        from qrowd.model.signature import written

        options = {name: getattr(self, name) for name in sorted(self.given() - SOURCES)}
        return replace(judgments, prepared=tuple(written(options)))

    def given(self) -> set[str]:
        """The names of the options that are not at their default."""
        return {field.name for field in fields(Data) if getattr(self, field.name) not in (field.default, [])}

    def read_with(self, option: str, texts: Sequence[str]) -> tuple[Judgments, tuple[str, ...]]:
        """The judgments with those of further assessors, and the names of these.

        option : that names them. texts : assessors of the judgments, or files of further assessors.
        """
        from qrowd import files
        from qrowd.model.judgments import concatenate_judgments
        from qrowd.model.labels import closest

        panel = self._collected()
        names = list(texts)  # paths among them are left out below, with who is excluded
        paths = [text for text in texts if text not in panel.assessors]
        for path in paths:
            where = path.rpartition("=")[2]
            if where != "-" and not (has_magic(where) or ":" in where or Path(where).exists()):
                raise ArgumentError(
                    f"--{option} {path}: neither an assessor nor a file; {closest(path, panel.assessors, 'assessor')}"
                )
        if paths:
            further = files.read_judgments(paths, assessor=self.assessor, **table_settings(self, "judgments"))
            show_notes(further.notes)
            names += further.assessors
            for name in set(further.assessors) & set(panel.assessors):
                if not reading.same_rows(panel.select(assessors=[name]), further.select(assessors=[name])):
                    raise ArgumentError(f"--{option}: {name!r} also judges in another file; rename it: NAME=PATH")
            panel = concatenate_judgments([panel, further.select(assessors=lambda one: one not in panel.assessors)])
        judgments = self._normalised(self._settled(panel))
        names = [name for name in names if name in judgments.assessors]
        if texts and not names:
            raise ArgumentError("it leaves nobody whom --model or --gold names", "exclude", self.exclude)
        if self.slots is not None:
            others = judgments.select(assessors=lambda assessor: assessor not in names)
            judgments = concatenate_judgments([self._in_slots(others), judgments.select(assessors=names)])
        return self._noted(judgments), tuple(names)

    def read_with_gold(self, gold: str | None) -> tuple[Judgments, str | None]:
        """The judgments with those of the gold assessor, and its name; None where none is named."""
        judgments, names = self.read_with("gold", () if gold is None else (gold,))
        if len(names) > 1:
            raise ArgumentError(f"--gold {gold}: one assessor was expected, found {len(names)}")
        return judgments, names[0] if names else None

    def _collected(self) -> Judgments:
        """The judgments of the files or the campaign, as they are."""
        from qrowd import files
        from qrowd.cli.progress import progress
        from qrowd.model.preferences import Preferences

        if self.judgments:
            refuse_campaign(self.campaign)
            settings = table_settings(self, "judgments")
            with progress("reading judgments") as advance:
                judgments = files.read_judgments(self.judgments, assessor=self.assessor, progress=advance, **settings)
            show_notes(judgments.notes)
            return judgments
        collected = read_campaign(self.campaign, self.database, "--judgments", names=self.names, final=self.FINAL)
        if isinstance(collected, Preferences):
            raise ArgumentError(
                f"--campaign {self.campaign}: it collects preferences; qrowd evaluate and qrowd report score systems "
                "by them, and qrowd prefer agree compares assessors"
            )
        self._show_notes(collected.notes)
        return collected

    def _normalised(self, judgments: Judgments) -> Judgments:
        """With the magnitudes on one scale, where that is asked for."""
        if self.normalise is None:
            return judgments
        from qrowd.magnitude import normalise_magnitudes

        if self.normalise == "checks":
            raise ArgumentError(
                "--normalise checks: it needs check documents; write normalised judgments with qrowd magnitude "
                "--normalise checks --gold FILE -o FILE, and read those"
            )
        scheme: Any = self.normalise.replace("-", "_")
        return normalise_magnitudes(judgments, scheme=scheme)

    def _settled(self, judgments: Judgments) -> Judgments:
        """Without excluded assessors, in clusters, recoded, and with the declared scales, those of the new values."""
        from qrowd import files

        scales = dict(map(pattern_and_scale, self.scale or []))
        recoded = reading.in_clusters(reading.without(judgments, self.exclude), self.clusters)
        if self.recode:
            recoded = recoded.recode(files.read_recoding(self.recode))
        return recoded.with_scales(scales) if scales else recoded


def by_position(paths: list[str] | None, runs: Runs, data: Data) -> tuple[Runs, Data]:
    """Where runs and judgments come from: the files QRELS RUN ..., or those of the options.

    Tables of answers are both.
    """
    if paths and (runs.runs or data.judgments or data.campaign):
        raise ArgumentError(
            f"unexpected extra argument {' '.join(paths)}: give QRELS RUN ... by position, or --judgments and --runs"
        )
    if paths:
        both = reading.hold_answers(paths, data)
        runs = replace(runs, runs=paths if both else paths[1:])
        data = replace(data, judgments=paths if both else paths[:1])
    return replace(runs, runs=runs.needed(data)), data


def judgments_by_position(paths: list[str] | None, data: Data) -> Data:
    """Where judgments come from: the files by position, or those of the options."""
    if paths and (data.judgments or data.campaign):
        raise ArgumentError(f"unexpected extra argument {' '.join(paths)}: give FILES by position, or --judgments")
    return replace(data, judgments=paths) if paths else data


PreferenceFiles = Annotated[
    list[str] | None,
    data_option(
        help="Preference files: lines `topic preferred other`, trec_eval's formats, or tables.",
        metavar="FILES",
    ),
]


@dataclass(frozen=True)
class PreferenceData:
    """Where preferences come from."""

    preferences: PreferenceFiles = None
    campaign: Campaign = None
    database: Database = DATABASE
    names: Names = False
    format: reading.Format = "auto"
    assessor: Assessor = "file"
    columns: reading.Columns = None
    incomplete_rows: reading.IncompleteRows = "refuse"

    def read(self) -> Preferences:
        """The preferences of all files, or of the campaign."""
        from qrowd import files
        from qrowd.model.preferences import Preferences

        if self.preferences:
            refuse_campaign(self.campaign)
            settings = table_settings(self, "preferences")
            preferences = files.read_preferences(
                self.preferences, format=self.format, assessor=self.assessor, **settings
            )
            show_notes(preferences.notes)
            return preferences
        collected = read_campaign(self.campaign, self.database, "--preferences", names=self.names)
        if not isinstance(collected, Preferences):
            raise ArgumentError(f"--campaign {self.campaign}: it collects judgments; give it to qrowd evaluate")
        return collected


def read_campaign(name: str | None, database: str, files: str, **how: bool) -> Judgments | Preferences:
    """What a campaign, or CAMPAIGN/ARM, has collected; a server may write to it meanwhile.

    files : the option for files instead. how : names, people by name, not by pseudonym; and final, whether final
    answers of owners replace those of assessors.
    """
    if name is None:
        raise ArgumentError(f"nothing to read: give {files} FILES, or --campaign NAME")
    collected: Judgments | Preferences = reading.of_campaigns("answers", name)(
        database, name, files.removeprefix("--"), **how
    )
    return collected


def refuse_campaign(campaign: str | None) -> None:
    if campaign is not None:
        raise ArgumentError(f"--campaign {campaign}: give either files or a campaign")


def pattern_and_scale(text: str) -> tuple[str, str]:
    pattern, equals, scale = text.rpartition("=")
    if not equals:
        raise ArgumentError(f"--scale {text}: expected PATTERN=SCALE, as in 'umbrela-*=0-3'")
    return pattern, scale


# ---------------------------------------------------------------------- text as what functions take


def pair_of(names: list[str] | None, option: str = "systems") -> tuple[str, str] | None:
    """The two systems of --systems, or assessors of --assessors."""
    if names is None:
        return None
    if len(names) != 2:
        raise ArgumentError(f"--{option} {' '.join(names)}: two {option} were expected, found {len(names)}")
    return names[0], names[1]


def patterns_by_name(texts: list[str] | None, option: str, expected: str) -> dict[str, list[str]]:
    """{name: patterns} of NAME=PATTERN; a name that is given twice has both patterns."""
    patterns: dict[str, list[str]] = {}
    for text in texts or []:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise ArgumentError(f"--{option} {text}: expected {expected}")
        patterns.setdefault(name, []).append(pattern)
    return patterns


def related_of(texts: list[str] | None) -> dict[str, list[str]] | None:
    """{assessors: systems} of --related."""
    return patterns_by_name(texts, "related", "ASSESSORS=SYSTEMS, as in 'qwen*=dual*'") or None


def read_duplicates(path: str) -> Duplicates:
    """The duplicates of a file."""
    from qrowd import files

    return files.read_duplicates(path)


# ---------------------------------------------------------------------- how numbers are computed


# Callbacks run before any file is read.


def checked_measures(texts: Any) -> Any:
    """One measure or several, in the notation of ir_measures."""
    from qrowd.evaluation import measure

    if isinstance(texts, str):
        return str(measure(texts))
    return texts and [str(measure(text)) for text in texts]


def checked_methods(texts: list[str] | None) -> list[str]:
    """Methods that put the assessors together, with all their parameters."""
    if not texts:
        return []
    from qrowd.methods import parse_method

    return [str(parse_method(text)) for text in texts]


def measures(show_default: str) -> Any:
    """The option for measures, several at once."""
    help = "Measures, such as nDCG@10, AP(rel=2) or ERR@20."
    return option(
        "-m",
        "--measure",
        help=help,
        metavar="MEASURES",
        show_default=show_default,
        callback=checked_measures,
        autocompletion=measure_names,
    )


def methods(help: str) -> Any:
    """The option for methods that put the assessors together."""
    return option("--method", help=help, metavar="METHODS", callback=checked_methods, autocompletion=method_names)


Measure = Annotated[
    str | None,
    option(
        "-m",
        "--measure",
        help="Measure, such as nDCG@10, AP(rel=2) or ERR@20.",
        show_default="nDCG@10; of answers Mean",
        metavar="MEASURE",
        callback=checked_measures,
        autocompletion=measure_names,
    ),
]
Baseline = Annotated[
    str | None,
    option(help="System that every other system is compared with.", metavar="SYSTEM"),
]
Reference = Annotated[
    str | None,
    option(
        help="Assessor that the others are compared with: qrowd compare shows the systems by this assessor, qrowd "
        "report by the panel of the others.",
        metavar="ASSESSOR",
        show_default="the panel mean",
    ),
]
Gold = Annotated[
    str | None, option(help="True judgments: an assessor of the judgments, or a file.", metavar="NAME|FILE")
]
Systems = Annotated[
    list[str] | None,
    option(help="Two systems to compare with each other, without --top.", metavar="A B"),
]
Versions = Annotated[
    list[str] | None,
    option(
        help="New and old version of a judge, with --systems NEW OLD: the change is split between system and judge.",
        metavar="NEW OLD",
    ),
]
Top = Annotated[int | None, option(help="Number of systems that tables show, the best first.", panel="Output", min=1)]
Cutoff = Annotated[int, option(help="Number of top ranks of a run that are considered.", min=1)]


CONVENTIONS = {
    "ties": convention(
        help="Order of documents with equal scores: by document id, or the expectation over all orders."
    ),
    "score_dtype": convention(help="Precision in which the scores of a run are compared."),
    "unjudged": convention(help="Documents without a judgment: not relevant, or removed from the ranking (condensed)."),
    "missing": convention(help="Topics that a run lacks: score 0, no score (skip), or an estimate (interpolate)."),
    "empty": convention(help="Topics without a relevant document: score 0, or no score (nan)."),
    "min_coverage": convention(help="Share of a topic's pool that an assessor must have judged to have a score there."),
    "repeats": convention(help="Judgment that counts where an assessor judged a document several times."),
    "grades": convention(help="Grades as they are, or divided by the maximum of their scale (rescaled)."),
    "duplicates": convention(
        help="Table of documents that say the same (topic, document, group): the first of a group in a ranking counts.",
        parser=read_duplicates,
        metavar="FILE",
    ),
}
Scoring = Annotated[Conventions, CONVENTIONS]
Repeats = Annotated[RepeatsChoice, CONVENTIONS["repeats"]]
MinCoverage = Annotated[float, CONVENTIONS["min_coverage"]]
CombineScales = Annotated[
    Literal["auto", "as-is", "rescaled", "relevant"],
    convention(
        help="Values on different scales: as they are, rescaled, or relevant or not; auto: what the method needs."
    ),
]
Level = Annotated[
    Literal["nominal", "ordinal", "interval", "ratio"] | None,
    convention(help="Measurement level of the values.", show_default="what the scale allows"),
]
Rel = Annotated[float | None, convention(help="Lowest grade that counts as relevant.")]

NResamples = Annotated[
    int,
    option(
        help="Number of bootstrap resamples, permutations or random assessors; in agree and predict, 0: no interval.",
        panel="Sampling",
        min=0,
    ),
]
Confidence = Annotated[
    float, option(help="Confidence level of intervals; the level of tests is 1 - confidence.", panel="Sampling")
]
Seed = Annotated[int, option("--seed", help="Random seed. Equal seeds give equal results.", panel="Sampling", min=0)]


@dataclass(frozen=True)
class Sampling:
    """Random samples, and the intervals that are computed from them."""

    n_resamples: NResamples
    confidence: Confidence = 0.95
    seed: Seed = 1

    @property
    def arguments(self) -> dict[str, Any]:
        """As functions of the library take them."""
        return {"n_resamples": self.n_resamples, "confidence": self.confidence, "rng": self.seed}


# ---------------------------------------------------------------------- options of functions of the library


def measures_by_default(default: str | tuple[str, ...] | None) -> Any:
    """The option for measures of a function that has these by default."""
    shown = default or "nDCG@10, of preferences ppref@10"
    return Annotated[list[str] | None, measures(show_default=shown if isinstance(shown, str) else " ".join(shown))]


FROM_FUNCTION = object()


def measure_for(runs: object, given: Any, default: str | None = "nDCG@10") -> Any:
    """The measure that was given; where none was, Mean of answers, and the default of rankings."""
    return given or (default if getattr(runs, "criterion", None) is None else "Mean")


@dataclass(frozen=True)
class Shared:
    """The option for a parameter that several functions have.

    option : its type and what `typer.Option` takes. default : on the command line, in place of that of the function;
        None leaves the value to the function. convert : makes the argument of the value.
    """

    option: Any
    default: Any = FROM_FUNCTION
    convert: Callable[[Any], Any] | None = None


SHARED: Mapping[str, Shared] = {
    "measure": Shared(Measure, None),
    "baseline": Shared(Baseline),
    "reference": Shared(Reference),
    "methods": Shared(
        Annotated[
            list[str] | None,
            methods(
                "Methods that put the assessors together, several side by side: majority, dawid-skene(per=all), mace, "
                "mean, uniform, sgl_rmse_msd, predicted-relevance(rel=2), agreement-aware and others."
            ),
        ],
        None,
    ),
    "results": Shared(
        Annotated[
            str | None,
            option(
                help="Folder for the scores of each part of a partitioned collection; what it holds is not computed "
                "again after an interruption.",
                panel="Workers",
                metavar="FOLDER",
            ),
        ]
    ),
    "systems": Shared(Systems, convert=pair_of),
    "assessors": Shared(Versions, convert=partial(pair_of, option="assessors")),
    "related": Shared(reading.Related, convert=related_of),
    "gold": Shared(Gold),
    "level": Shared(Level),
    "repeats": Shared(Repeats),
    "combine_scales": Shared(CombineScales),
    "rel": Shared(Rel),
    "top": Shared(Top),
    "n_resamples": Shared(NResamples),
    "confidence": Shared(Confidence),
    "rng": Shared(Seed, 1),
}
