"""What is read from data files, corrected in them, and refused."""

import gzip
import json
import random

import pytest

from service.domain.errors import InvalidInputError
from tests.unit.training.decided import write_rows
from training.data.corrections import LABEL_CORRECTIONS, CorrectLabel, read_corrections
from training.data.dataset import Dataset, find_data_files, read_dataset
from training.data.hosts import made_up_host, with_real_hosts


def make_row(**changes) -> dict[str, object]:
    row = {
        "id": "x-1",
        "text": "The valve was stuck.",
        "label": "ham",
        "post_id": "p1",
        "post_title": "Bleeding a radiator",
        "author_url": "https://Mara.example/about",
        "lang": "en",
        "kind": "bug-report",
        "campaign": None,
        "promo_spans": [],
        "hardness": 2,
    }
    return row | changes


@pytest.fixture
def read(tmp_path):
    """Return a function from rows, and corrections of them, to what is read of them."""

    def read(*rows, corrections=()) -> Dataset:
        fixes = write_rows(tmp_path / "fixes.jsonl", *corrections) if corrections else None
        return read_dataset([write_rows(tmp_path / "x.jsonl", *rows)], corrections=fixes)

    return read


def test_a_row_becomes_an_example_of_its_file(read):
    (example,) = read(make_row(campaign="c7", label="spam")).examples

    assert example.is_spam
    assert example.input.text == "The valve was stuck."
    assert example.input.author_host == "mara.co.uk"
    assert (example.source, example.post_key, example.campaign) == ("x", "x/p1", "x/c7")
    assert (example.kind, example.language, example.hardness) == ("bug-report", "en", 2)


def test_a_folder_stands_for_its_data_files_packed_or_not(tmp_path):
    write_rows(tmp_path / "b.jsonl", make_row(id="b"))
    (tmp_path / "notes.md").write_text("not data")
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as packed:
        packed.write(json.dumps(make_row(id="a")))

    dataset = read_dataset([tmp_path, tmp_path / "b.jsonl"])

    assert [example.comment.id for example in dataset.examples] == ["a", "b"]


def test_promotion_that_nobody_marked_follows_the_boundary_in_spam_and_is_none_in_ham(read):
    unmarked = make_row(text="Nice valve. \n Buy mine! ", label="spam", boundary=11)
    del unmarked["promo_spans"]

    spam, ham, marked, nothing_after, unknown = read(
        unmarked,
        unmarked | {"id": "x-2", "label": "ham"},
        unmarked | {"id": "x-3", "promo_spans": []},
        unmarked | {"id": "x-4", "boundary": 24},
        unmarked | {"id": "x-5", "boundary": None},
    ).examples

    assert [spam.comment.text[a:b] for a, b in spam.promo_spans] == ["Buy mine!"]
    assert ham.promo_spans == marked.promo_spans == ()
    assert nothing_after.promo_spans is unknown.promo_spans is None


def test_of_texts_without_a_label_those_with_an_advertisement_are_kept_apart(read):
    dataset = read(
        {"id": "x-1", "text": "Fine. Buy mine!", "label": None, "promo_spans": [[6, 15]]},
        {"id": "x-2", "text": "Nothing was woven in.", "label": None},
    )

    (text,) = dataset.texts
    assert dataset.examples == ()
    assert (text.text, text.promo_spans) == ("Fine. Buy mine!", ((6, 15),))
    assert dataset.files[0].n_unlabelled == 2


def test_comments_without_a_post_do_not_count_as_one_post(read):
    rows = [make_row(id=f"x-{n}", post_id=None, post_title=None) for n in range(2)]

    one, other = read(*rows).examples

    assert one.post_key != other.post_key


def test_everything_wrong_is_named_at_once_and_no_value_is_quoted(tmp_path):
    path = tmp_path / "x.jsonl"
    write_rows(
        path,
        make_row(id=""),
        make_row(text=None),
        make_row(text="secret words", label="secret label"),
        make_row(hardness=9),
        make_row(promo_spans=[[5, 999]]),
        make_row(id="twice"),
        make_row(id="twice"),
        make_row(boundary=999),
    )
    with path.open("a") as lines:
        lines.write("no JSON\n[]\n\n")

    with pytest.raises(InvalidInputError) as refused:
        read_dataset([path])

    assert "secret" not in str(refused.value)
    assert [problem.field for problem in refused.value.problems] == [
        "x.jsonl:1 id",
        "x.jsonl:2 text",
        "x.jsonl:3 label",
        "x.jsonl:4 hardness",
        "x.jsonl:5 promo_spans",
        "x.jsonl:7 id",
        "x.jsonl:8 boundary",
        "x.jsonl:9",
        "x.jsonl:10",
    ]


@pytest.mark.parametrize(
    "spans", [[[3]], [["a", "b"]], [[4, 4]], [[-1, 2]], "all of it", [[True, 3]], [7]], ids=str
)
def test_spans_that_are_no_offsets_are_refused(read, spans):
    with pytest.raises(InvalidInputError, match="promo_spans"):
        read(make_row(label="spam", promo_spans=spans))


def test_a_file_that_was_cut_off_is_named(tmp_path):
    packed = gzip.compress(json.dumps(make_row()).encode() * 50)
    (tmp_path / "x.jsonl.gz").write_bytes(packed[: len(packed) // 2])

    with pytest.raises(InvalidInputError, match="cannot be read further"):
        read_dataset([tmp_path])


def make_correction(**changes) -> dict[str, object]:
    return {"id": "a", "was": "ham", "is": "spam", "reason": "sells valves"} | changes


def test_a_label_is_corrected_and_what_was_said_of_the_wrong_one_is_forgotten(read):
    dataset = read(
        make_row(id="a", kind="bug-report"),
        make_row(id="b", label="spam", promo_spans=[[0, 3]]),
        make_row(id="c"),
        make_row(id="d"),
        corrections=[
            make_correction(),
            make_correction(id="b", was="spam", **{"is": "ham"}),
            make_correction(id="c", **{"is": "drop"}),
            make_correction(id="elsewhere"),
        ],
    )

    spam, ham, untouched = dataset.examples
    assert (spam.is_spam, ham.is_spam, untouched.is_spam) == (True, False, False)
    assert (spam.is_corrected, ham.is_corrected, untouched.is_corrected) == (True, True, False)
    assert (spam.kind, spam.promo_spans, ham.promo_spans) == (None, None, ())
    # What nobody can judge is left out.
    assert untouched.comment.id == "d"
    assert (dataset.files[0].n_spam, dataset.files[0].n_ham) == (1, 2)


def test_a_correction_of_another_label_than_the_data_have_is_refused(read):
    with pytest.raises(InvalidInputError, match=r"fixes.jsonl:1 was"):
        read(make_row(id="a", label="spam"), corrections=[make_correction()])


def test_everything_wrong_in_a_file_of_corrections_is_named_at_once(tmp_path):
    path = write_rows(
        tmp_path / "fixes.jsonl",
        make_correction(),
        make_correction(),
        make_correction(id=""),
        make_correction(was="maybe"),
        make_correction(**{"is": "ham"}),
        make_correction(**{"is": ["drop"]}),
        make_correction(reason=None),
        ["a"],
    )

    with pytest.raises(InvalidInputError) as refused:
        read_corrections(path)

    wrong = [f"fixes.jsonl:{n}" for n in range(3, 9)]
    assert [problem.field for problem in refused.value.problems] == ["fixes.jsonl:2 id", *wrong]


def test_our_corrections_are_sound():
    corrections = read_corrections(LABEL_CORRECTIONS)

    sources = {comment_id.rpartition("-")[0] for comment_id in corrections}
    assert sources
    # What we wrote ourselves is labelled by what it was written as.
    assert not [source for source in sources if source[:1] == "t" and source[1:].isdecimal()]
    assert {c.correct for c in corrections.values()} == set(CorrectLabel)
    assert LABEL_CORRECTIONS not in find_data_files([LABEL_CORRECTIONS.parent])


def test_marks_move_along_with_the_hosts_before_them():
    text = "See mara.example first. Buy at luckspin.example today, or else."
    start = text.index("Buy")
    row = {"text": text, "promo_spans": [[start, start + 29]], "boundary": start, "id": "a"}

    changed = with_real_hosts(row)

    ((first, last),) = changed["promo_spans"]
    assert ".example" not in changed["text"]
    assert changed["text"][changed["boundary"] :].startswith("Buy at luckspin.")
    assert changed["text"][first:last].startswith("Buy at luckspin.")
    assert changed["text"].endswith(" today, or else.")


def test_the_ending_depends_on_the_host_alone():
    row = {"text": "at shop.example", "author_url": "https://Shop.example/x", "label": "spam"}

    one, other = with_real_hosts(row), with_real_hosts(row | {"label": "ham"})

    assert one["text"] == other["text"]
    assert one["author_url"].lower() == f"https://{one['text'].removeprefix('at ')}/x"


@pytest.mark.parametrize("text", ["for example.", "at example.com", "a.example.com", "an.exampleb"])
def test_what_is_no_bare_host_stays(text):
    row = {"text": text, "author_url": None}

    assert with_real_hosts(row) == row


def test_two_copies_of_a_file_are_read_once(tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        write_rows(tmp_path / folder / "x.jsonl", make_row())

    dataset = read_dataset([tmp_path / "here", tmp_path / "there"])

    assert len(dataset.files) == len(dataset.examples) == 1


def test_paths_without_data_are_all_named(tmp_path):
    (tmp_path / "empty").mkdir()

    with pytest.raises(InvalidInputError) as refused:
        find_data_files([tmp_path / "empty", tmp_path / "gone"])

    assert len(refused.value.problems) == 2


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["missing", "no text"])
def test_a_file_of_corrections_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "fixes.jsonl"
    if content:
        path.write_bytes(content)

    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_corrections(path)


def test_a_made_up_host_looks_like_one_and_follows_the_seed():
    first, again = ([made_up_host(random.Random(seed)) for seed in range(200)] for _ in range(2))

    assert first == again
    assert len(set(first)) > 150
    assert all("." in host and " " not in host for host in first)
