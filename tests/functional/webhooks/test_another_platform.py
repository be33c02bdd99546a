"""A platform is added by one file and one line."""

import os
import shutil

from tests.commands import ROOT, run_python

ADAPTER = '''
"""Nowhere: judges the comments of its posts."""

from service.domain.comment import Author, Post
from service.web.webhooks.adapter import Adapter, Shown, serve_events, signed_in
from service.web.webhooks.payload import as_comment, own_id, read_json, require


def read(received):
    comment = read_json(received.body).of("comment")
    number = own_id("nowhere", require(comment.id("id"), "comment.id"))
    text = require(comment.text("text"), "comment.text")
    new = as_comment(received.site, text, post=Post(), author=Author(), site_comment_id=number)
    return Shown(new=new)


ADAPTER = Adapter(verify=signed_in("X-Nowhere-Signature"), serve=serve_events(read))
'''
PROGRAM = """
from service.domain.delivery import Platform
from service.web.app import create_app
from tests.fakes import make_services
from tests.functional.moderators import CONFIG
from tests.functional.webhooks.conftest import add_hook, hex_signature, only_case

services = make_services()
client = create_app(services, CONFIG, {}).test_client()
hook = add_hook(services, Platform.NOWHERE)
body = b'{"comment": {"id": 7, "text": "My valve was stuck too."}}'


def post(signature):
    headers = {"Content-Type": "application/json", "X-Nowhere-Signature": signature}
    return client.post(f"/hooks/{hook}", data=body, headers=headers).status_code


refused, taken = post(hex_signature(body + b" ")), post(hex_signature(body))
case = only_case(services)
print(refused, taken, case.comment.site_comment_id, case.comment.text)
"""


def test_a_file_and_a_line_make_a_platform(tmp_path):
    shutil.copytree(ROOT / "service", tmp_path / "service")
    (tmp_path / "service/web/webhooks/nowhere.py").write_text(ADAPTER)
    values = tmp_path / "service/domain/delivery.py"
    line = '    GITHUB = "github"\n    STANDARD'
    values.write_text(values.read_text().replace(line, f'    NOWHERE = "nowhere"\n{line}', 1))

    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = run_python("-c", PROGRAM, env=env, cwd=tmp_path)

    assert done.stderr == ""
    assert done.stdout == "401 202 nowhere:7 My valve was stuck too.\n"
