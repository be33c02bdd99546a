"""Contrasts edit one thing each, and catch a classifier that leans on it."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from models.inputs import ModelInput
from service.domain.comment import MAX_NAME_CHARS, MAX_TEXT_BYTES, Author, Post
from service.signals.hosts import registered_domain
from service.signals.links import find_links
from service.signals.reference_hosts import is_reference
from tests.factories import make_comment
from training.data.dataset import Example
from training.experiments.contrast import (
    CONTRASTS,
    contrast_markdown,
    contrast_rows,
    main,
    measure_contrasts,
)
from training.experiments.contrast_edits import (
    _CODE_LINES,
    _INJECTIONS,
    _REFERENCES,
    _SENTENCES,
)

SPAM = (
    "Lovely write-up, thanks! My cousin sells cheap radiators at a discount since 2019, "
    "see https://www.radiators-sale.shop/all or <a href='http://hot-pipes.co.uk'>hot pipes</a>."
)
HAM = (
    "The valve was stuck in mine too, since 2011. I heated it with a towel, waited an hour, and "
    "then `turn --left` did it. The manual is at https://en.wikipedia.org/wiki/Thermostat now."
)


def make_input(text: str = HAM, **changes) -> ModelInput:
    values = {
        "post_title": "Bleeding a radiator",
        "post_excerpt": "Cold at the top, warm below.",
        "author_name": "Mara",
        "author_host": "mara.example",
    }
    return ModelInput(text=text, **(values | changes))


def make_example(text: str, *, is_spam: bool, **changes) -> Example:
    values = {"post": Post(title="Bleeding a radiator", excerpt="Cold."), "author": Author()}
    comment = make_comment(text, **(values | changes))
    return Example(comment=comment, is_spam=is_spam, source="s", post_key="s/p")


def edit(name: str, inputs: ModelInput, *, label: str | None = None, seed: int = 1):
    contrast = next(c for c in CONTRASTS if c.name == name and (label is None or label in c.labels))
    return contrast.edit(inputs, random.Random(seed))


def edited_text(name: str, text: str, **options) -> str:
    edited = edit(name, make_input(text), **options)
    assert edited is not None
    return edited.text


def measure(examples, score, **changes):
    """Return the results by contrast and label."""
    values = {"ham_cutoff": 0.1, "spam_cutoff": 0.9, "seed": 7}
    results = measure_contrasts(examples, score, **(values | changes))
    return {(r.contrast, r.label): r for r in results}


def score_where(holds):
    """Return a classifier that says 0.95 where something holds of an input, else 0.02."""
    return lambda inputs: np.array([0.95 if holds(one) else 0.02 for one in inputs])


each_contrast = pytest.mark.parametrize(
    "contrast", CONTRASTS, ids=lambda c: f"{c.name}-{c.applies_to}"
)


def test_each_name_and_label_occurs_once():
    pairs = [(c.name, label) for c in CONTRASTS for label in c.labels]

    assert len(set(pairs)) == len(pairs)


@each_contrast
def test_the_same_seed_gives_the_same_edit(contrast):
    for text in (SPAM, HAM):
        first = contrast.edit(make_input(text), random.Random("a"))
        again = contrast.edit(make_input(text), random.Random("a"))

        assert first == again


@each_contrast
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "?",
        "好文章，谢谢分享！请访问example.com",
        "\u202e\u200b<a <a <a [url [url `",
        "http://" * 4_000,
        "a.co " * 6_000,
        "<a href='http://x.com'>" * 2_000,
        "&amp;" * 8_000,
        "." * 60_000,
        "a" * 60_000,
        "x" * 200_000,
        "é" * 32_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_whatever_the_text_an_edit_is_valid_and_bounded_or_does_not_apply(contrast, text):
    inputs = make_input(text)

    edited = contrast.edit(inputs, random.Random(3))

    assert edited is None or (
        edited != inputs
        and edited.text.strip()
        and len(edited.text.encode()) <= MAX_TEXT_BYTES
        and len(edited.author_name) <= MAX_NAME_CHARS
    )


def test_removed_links_take_their_words_along_and_leave_nothing_that_leads_away():
    text = edited_text("links_removed", SPAM, label="spam")

    assert find_links(text) == ()
    assert text == (
        "Lovely write-up, thanks! My cousin sells cheap radiators at a discount since 2019, "
        "see or ."
    )


@pytest.mark.parametrize(
    "text",
    [
        "one " + "a-site.com and " * 700 + "end",
        "see [my page](https://mara.example/x) for more",
        "see [url=http://x.com]this[/url] there",
        "on http://localhost:8080/a I see it",
        "half a tag <a href=x.com and </a> more",
        "nested exam<a>ple.com or ex[url]ample.com too",
    ],
)
def test_no_link_is_left_however_it_is_written(text):
    left = edited_text("links_removed", text, label="ham")

    assert find_links(left) == ()
    assert "://" not in left
    assert "<a" not in left


def test_spam_that_promoted_by_its_link_alone_is_left_out_when_the_link_goes():
    only_link = make_input("So true, I felt the same, https://mara.example/x")

    assert edit("links_removed", only_link, label="spam") is None
    assert edit("links_removed", only_link, label="ham") is not None


def test_every_domain_is_swapped_the_same_way_everywhere():
    inputs = make_input(
        "Mail sales@hot-pipes.co.uk or see https://www.hot-pipes.co.uk/a and hot-pipes.co.uk",
        author_host="shop.hot-pipes.co.uk",
    )

    edited = edit("domain_swapped", inputs)

    new = edited.author_host
    assert "hot-pipes" not in edited.text
    assert new.endswith(".co.uk")
    assert edited.text == f"Mail sales@{new} or see https://www.{new}/a and {new}"


def test_the_swapped_author_host_is_still_a_host_under_a_reserved_ending():
    edited = edit("domain_swapped", make_input("No link here.", author_host="www.mara.example"))

    assert edited.author_host.startswith("www.")
    assert edited.author_host.endswith(".example")
    assert "mara" not in edited.author_host
    assert edited.author_host.count(".") == 2


def test_domains_of_references_are_kept():
    inputs = make_input("See https://en.wikipedia.org/wiki/Thermostat", author_host="")

    assert edit("domain_swapped", inputs) is None


def test_numeric_hosts_become_numbers_for_documentation():
    edited = edit("domain_swapped", make_input("at http://8.8.4.4/x now", author_host=""))

    assert edited.text.startswith("at http://203.0.113.")


def test_different_domains_stay_different():
    text = " ".join(f"https://site{i}.com/x" for i in range(200))

    links = find_links(edited_text("domain_swapped", text))

    assert len({link.domain for link in links}) == 200


def test_the_innocent_link_is_one_that_readers_cite():
    for reference in _REFERENCES:
        (link,) = find_links(f"I agree ({reference})")

        assert is_reference(link.host, link.domain)
        assert registered_domain(link.host)
    assert len(find_links(edited_text("innocent_link_added", "I agree", label="ham"))) == 1


def test_another_post_replaces_what_the_site_sent_and_nothing_else():
    edited = edit("title_swapped", make_input(post_excerpt=""), label="ham")

    assert edited.post_title not in ("", "Bleeding a radiator")
    assert edited.post_excerpt == ""
    assert edited.text == HAM
    assert edit("title_swapped", make_input(post_title="", post_excerpt="")) is None


def test_a_removed_post_or_author_leaves_empty_fields():
    post = edit("post_removed", make_input())
    author = edit("author_removed", make_input(), label="ham")

    assert (post.post_title, post.post_excerpt) == ("", "")
    assert (author.author_name, author.author_host) == ("", "")
    assert edit("post_removed", make_input(post_title="", post_excerpt="")) is None
    assert edit("author_removed", make_input(author_name="", author_host=""), label="ham") is None


def test_spam_by_its_author_alone_is_left_out_when_the_author_goes():
    assert edit("author_removed", make_input("So true."), label="spam") is None
    assert edit("author_removed", make_input(SPAM), label="spam") is not None


def test_an_author_site_is_added_only_where_there_is_none():
    assert edit("author_site_added", make_input(author_host="")).author_host.count(".") == 1
    assert edit("author_site_added", make_input()) is None
    assert len(edit("author_name_added", make_input(author_name="")).author_name.split()) == 2
    assert edit("author_name_added", make_input()) is None


def test_injections_come_in_all_their_wordings_and_places():
    seen = set()
    for seed in range(300):
        edited = edit("injection_added", make_input(SPAM), seed=seed)
        words = next(w for w in _INJECTIONS if w in f"{edited.author_name}\n{edited.text}")
        place = "author" if words in edited.author_name else edited.text.find(words)
        seen.add((words, place))
        assert edited.text.replace(words, "").replace(" ", "").strip() == SPAM.replace(" ", "")
        assert [link.target for link in find_links(edited.text)] == [
            link.target for link in find_links(SPAM)
        ]

    assert len(seen) == 6 * 5


def test_look_alikes_replace_some_latin_letters_and_leave_links_alone():
    text = edited_text("homoglyphs", SPAM)

    changed = [(a, b) for a, b in zip(SPAM, text, strict=True) if a != b]
    assert 3 <= len(changed) <= len(SPAM) / 4
    assert all(a.isascii() and "\u0400" <= b <= "\u04ff" for a, b in changed)
    assert find_links(text) == find_links(SPAM)
    assert edit("homoglyphs", make_input("好文章，谢谢分享！")) is None


def test_case_changes_in_prose_but_not_in_links():
    text = "SEE https://Mara.Example/Path Now"

    assert edited_text("case_lower", text) == "see https://Mara.Example/Path now"
    assert edited_text("case_upper", text) == "SEE https://Mara.Example/Path NOW"
    assert edit("case_lower", make_input("12 好文章")) is None


def test_typing_slips_change_little_and_no_link():
    text = edited_text("punctuation_noise", SPAM, label="spam")

    assert text != SPAM
    assert sorted(text.replace(",", "").replace(".", "")) != []
    assert abs(len(text) - len(SPAM)) <= 4
    assert [link.target for link in find_links(text)] == [link.target for link in find_links(SPAM)]


def test_long_dashes_take_the_place_of_two_commas():
    assert edited_text("long_dashes", "a, b - c, d", label="ham") == "a — b — c, d"
    assert edit("long_dashes", make_input("no comma"), label="ham") is None


def test_the_first_three_fifths_of_the_words_are_kept():
    assert edited_text("truncated", "one two\nthree four five", label="ham") == "one two\nthree"
    assert edit("truncated", make_input("one two three four"), label="ham") is None


def test_spam_cut_before_its_promotion_is_left_out():
    late = make_input("What a fine and thoughtful text this is, see https://mara.example/x today")
    early = make_input("See https://mara.example/x today, for this is a fine and thoughtful text")

    assert edit("truncated", late, label="spam") is None
    assert edit("truncated", early, label="spam") is not None


def test_added_code_is_a_line_of_its_own_without_a_link():
    text = edited_text("code_added", SPAM)

    assert text.startswith(f"{SPAM}\n\n")
    assert text.removeprefix(SPAM).strip() in _CODE_LINES
    assert all(find_links(line) == () for line in _CODE_LINES)


def test_an_added_sentence_offers_nothing():
    text = edited_text("sentence_added", HAM, label="ham")

    assert text.startswith(f"{HAM}\n\n")
    assert text.removeprefix(HAM).strip() in _SENTENCES


def test_marks_of_code_go_while_the_code_stays():
    assert edited_text("code_marks_removed", "try `git pull` <code>now</code>") == (
        "try git pull now"
    )
    assert edit("code_marks_removed", make_input("no code")) is None


def test_html_leftovers_come_and_go():
    plain = 'Fish & "chips"\nat https://mara.example/?a=1&b=2'

    left_over = edited_text("html_leftovers_added", plain, label="ham")

    assert left_over == (
        "<p>Fish &amp; &quot;chips&quot;<br />\nat https://mara.example/?a=1&b=2</p>"
    )
    assert edited_text("html_leftovers_removed", "<p>It&#39;s fine.</p><p>Yes</p>") == (
        "It's fine.\n\nYes"
    )
    assert edit("html_leftovers_removed", make_input("plain")) is None


def test_placeholders_of_an_export_are_added_and_filled():
    assert edited_text("name_placeholder_added", "Buy now") == "<name>, Buy now"

    filled = edited_text("placeholders_filled", "<name>, mail <email>, call <phone> or ping <ip>")

    assert "<" not in filled
    assert "@example.org" in filled
    assert "+44 7700 900" in filled
    assert edit("placeholders_filled", make_input("none")) is None


def test_years_move_while_other_numbers_stay():
    text = edited_text("year_words", "In 2011 I paid 2011.50, port 20110, https://x.com/2011/a")

    year = int(text.split()[1])
    assert year != 2011
    assert 2005 <= year <= 2026
    assert text.endswith(" I paid 2011.50, port 20110, https://x.com/2011/a")
    assert edit("year_words", make_input("in the year 12")) is None


EXAMPLES = [
    *(make_example(f"{SPAM} {n}", is_spam=True) for n in range(12)),
    *(
        make_example(f"I waited an hour, and it held for {n} days.", is_spam=False)
        for n in range(12)
    ),
]


def test_a_classifier_that_takes_links_for_spam_is_caught():
    results = measure(EXAMPLES, score_where(lambda one: "://" in one.text))

    linked = results["innocent_link_added", "ham"]
    assert linked.n == 12
    assert linked.verdicts[0] == (0, 0, 12)
    assert (linked.verdicts_against.hits, linked.odds_against.hits) == (12, 12)
    assert linked.verdicts_against.interval_95[0] > 0.7
    assert linked.mean_p_before == pytest.approx(0.02)
    assert linked.mean_p_after == pytest.approx(0.95)
    assert linked.mean_log_odds_change > 6
    assert len(linked.worst_ids) == 5
    assert results["links_removed", "spam"].verdicts_against.hits == 12
    assert results["code_added", "spam"].verdicts_against.hits == 0


def test_a_classifier_that_takes_code_for_ham_is_caught():
    def is_no_code(one):
        return not any(line in one.text for line in _CODE_LINES)

    results = measure(EXAMPLES, score_where(is_no_code))

    assert results["code_added", "spam"].verdicts[2] == (12, 0, 0)
    assert results["code_added", "spam"].verdicts_against.hits == 12
    assert results["innocent_link_added", "spam"].verdicts_against.hits == 0


def test_a_classifier_that_goes_by_what_is_sold_is_not_caught():
    def sells(one):
        return "RADIATORS" in one.text.upper()

    results = measure(EXAMPLES, score_where(sells)).values()
    # Look-alikes and slips hide the word itself, which such a classifier rightly cannot claim.
    hiding = {"homoglyphs", "punctuation_noise"}

    caught = {
        r.contrast
        for r in results
        if r.contrast not in hiding and (r.verdicts_against.hits or r.odds_against.hits)
    }

    assert caught == set()


def test_a_move_in_the_expected_direction_is_not_held_against_a_classifier():
    results = measure(EXAMPLES, score_where(lambda one: "<p>" in one.text))

    assert results["html_leftovers_added", "spam"].verdicts[0] == (0, 0, 12)
    assert results["html_leftovers_added", "spam"].verdicts_against.hits == 0
    assert results["html_leftovers_added", "spam"].worst_ids == ()
    assert results["html_leftovers_added", "ham"].verdicts_against.hits == 12


def test_small_moves_within_a_verdict_are_not_counted():
    def score(inputs):
        return np.array([0.5 + 0.02 * ("<name>" in one.text) for one in inputs])

    result = measure(EXAMPLES, score)["name_placeholder_added", "spam"]
    falling = measure(EXAMPLES, lambda inputs: 1 - score(inputs))["name_placeholder_added", "spam"]

    assert result.worst_ids == ()
    assert falling.mean_log_odds_change == pytest.approx(-0.08, abs=0.001)
    assert (falling.verdicts_against.hits, falling.odds_against.hits) == (0, 0)
    assert len(falling.worst_ids) == 5


def test_a_comments_edit_does_not_depend_on_the_other_comments():
    seen: list[set[str]] = []

    def watch(inputs):
        seen[-1].update(one.text for one in inputs)
        return np.full(len(inputs), 0.5)

    for examples in (EXAMPLES, EXAMPLES[:1]):
        seen.append(set())
        measure(examples, watch)

    assert seen[1] <= seen[0]


def test_another_seed_gives_other_edits():
    def by_length(inputs):
        return np.array([min(1.0, len(one.text) / 1_000) for one in inputs])

    one = measure(EXAMPLES, by_length, seed=1)["innocent_link_added", "ham"]
    other = measure(EXAMPLES, by_length, seed=2)["innocent_link_added", "ham"]

    assert one.mean_p_after != other.mean_p_after


def test_what_a_contrast_does_not_apply_to_is_counted_and_shown():
    results = measure(EXAMPLES, score_where(lambda one: True))
    nowhere = results["placeholders_filled", "ham"]

    assert (nowhere.n, nowhere.n_not_applicable) == (0, 12)
    assert nowhere.mean_p_before is None
    assert nowhere.verdicts_against.interval_95 == (0.0, 1.0)
    assert "| `placeholders_filled` | ham | same | 0 | 12 |" in contrast_markdown([nowhere])


def test_without_comments_every_contrast_is_empty():
    assert {r.n for r in measure([], score_where(lambda one: True)).values()} == {0}


@pytest.mark.parametrize("answer", [[0.5], [[0.5]] * 24, [1.5] * 24, [float("nan")] * 24])
def test_a_score_that_is_no_probability_for_each_comment_is_refused(answer):
    with pytest.raises(ValueError, match="24 probabilities"):
        measure(EXAMPLES, lambda inputs: np.array(answer))


def test_rows_are_json_and_name_the_verdicts():
    results = measure(EXAMPLES, score_where(lambda one: "://" in one.text))

    rows = json.loads(json.dumps(contrast_rows(list(results.values())), allow_nan=False))

    row = next(r for r in rows if (r["contrast"], r["label"]) == ("innocent_link_added", "ham"))
    assert row["verdicts"]["ham"] == {"ham": 0, "unsure": 0, "spam": 12}
    assert row["verdicts_against"]["hits"] == row["verdicts_against"]["count"] == 12


def test_an_id_cannot_break_the_table():
    example = make_example("I agree.", is_spam=False, id="a|b\n<script>")
    results = measure([example], score_where(lambda one: "://" in one.text))

    table = contrast_markdown([results["innocent_link_added", "ham"]])

    assert len(table.splitlines()) == 3
    assert "a?b??script?" in table


def write_rows(path, n=4):
    rows = [
        {"id": f"x-{i}", "text": f"{SPAM if i % 2 else HAM} {i}", "label": ["ham", "spam"][i % 2]}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_command_writes_a_page_on_the_shipped_version(tmp_path):
    page, facts = tmp_path / "page.md", tmp_path / "facts.json"
    data = write_rows(tmp_path / "blog.jsonl")

    code = main(["--data", data, "--out", str(page), "--json", str(facts)])

    assert code == 0
    assert "2 ham and 2 spam." in page.read_text()
    assert "trained on none of these files" in page.read_text()
    assert "| `code_added` | spam | not lower | 2 | 0 |" in page.read_text()
    written = json.loads(facts.read_text())
    assert len(written["contrasts"]) == sum(len(c.labels) for c in CONTRASTS)
    assert (written["seed"], written["data"][0]["name"]) == (20_260, "blog.jsonl")


def test_the_command_says_when_a_version_knows_the_data(capsys):
    code = main(["--data", "data/authored-t1.jsonl", "--sample", "2", "--model-alone"])

    page = capsys.readouterr().out
    assert code == 0
    assert "**In-sample**: the version was trained on 1 of these 1 files" in page
    assert "2 ham and 2 spam, a sample of at most 2 a label. Scored by the classifier alone" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "nowhere: there is no data file"),
        (["--data", "DATA", "--version", "nowhere"], "model version nowhere is incomplete"),
        (["--data", "DATA", "--out", "nowhere/page.md"], "--out: is no file in a folder"),
        (["--data", "DATA", "--sample", "0", "--json", "."], "--json: is no file"),
    ],
)
def test_wrong_input_gives_a_clear_error(tmp_path, capsys, arguments, message):
    data = write_rows(tmp_path / "blog.jsonl")

    code = main([data if argument == "DATA" else argument for argument in arguments])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert message in said.err
