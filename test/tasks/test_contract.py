"""The reading contract: what a submission file may be, and what the verifier does when its own input is damaged."""

import json
import os
import subprocess
import tempfile
import unittest

import host_check
from generate import prove
from sides import ROOT, Side, encode, problem_of

TASK = "parity-sum-01"


class Bundle(unittest.TestCase):
    """A joined bundle in a temporary folder, graded through its own test.sh."""

    def setUp(self):
        self._work = tempfile.TemporaryDirectory()
        self.addCleanup(self._work.cleanup)
        self.work = self._work.name
        self.folder = os.path.join(self.work, "bundle")
        host_check.join(TASK, self.folder)
        self.path = os.path.join(self.work, "submission.json")
        self.right = Side("oracle", "negative_control").solve(problem_of(TASK))

    def grade(self):
        return prove.grade(self.folder, self.path, self.work)

    def expect(self, check):
        reward, verdict = self.grade()
        self.assertEqual(verdict["failed"], check)
        self.assertEqual(set(reward.values()), {0})

    def write(self, data):
        with open(self.path, "wb") as stream:
            stream.write(data)

    def test_a_right_submission_scores_one_in_every_dimension(self):
        self.write(encode(self.right))
        reward, verdict = self.grade()
        self.assertEqual(
            (reward, verdict["failed"]),
            ({"reward": 1, "correctness": 1, "binding": 1, "completeness": 1, "scope": 1}, None),
        )

    def test_a_missing_file_is_a_verdict(self):
        self.expect("submission.present")

    def test_a_symbolic_link_to_a_right_submission_is_refused(self):
        other = os.path.join(self.work, "elsewhere.json")
        with open(other, "wb") as stream:
            stream.write(encode(self.right))
        os.symlink(other, self.path)
        self.expect("submission.regular-file")

    def test_a_link_to_a_hidden_file_is_refused(self):
        os.symlink(os.path.join(self.folder, "tests", "input.json"), self.path)
        self.expect("submission.regular-file")

    def test_a_folder_is_refused(self):
        os.mkdir(self.path)
        self.expect("submission.regular-file")

    def test_a_pipe_is_refused_without_waiting(self):
        os.mkfifo(self.path)
        self.expect("submission.regular-file")

    def test_a_large_file_is_refused_unread(self):
        with open(self.path, "wb") as stream:
            stream.truncate(10 * 1024**3)
        self.expect("submission.size")

    def test_one_mebibyte_is_read_and_one_byte_more_is_not(self):
        body = encode(self.right)
        self.write(body + b" " * (1024 * 1024 - len(body)))
        self.assertEqual(self.grade()[0]["reward"], 1)
        self.write(body + b" " * (1024 * 1024 - len(body) + 1))
        self.expect("submission.size")

    def test_an_altered_hidden_input_gives_no_reward_and_a_failing_exit(self):
        self.write(encode(self.right))
        with open(os.path.join(self.folder, "tests", "input.json"), "ab") as stream:
            stream.write(b" ")
        logs = os.path.join(self.work, "logs")
        done = subprocess.run(
            ["sh", f"{self.folder}/tests/test.sh", "--submission", self.path, "--logs", logs],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("hidden input digest mismatch", done.stderr)
        self.assertLess(len(done.stderr), 1000)
        self.assertFalse(os.path.exists(os.path.join(logs, "reward.json")))

    def test_an_internal_fault_gives_no_reward_and_a_failing_exit(self):
        self.write(encode(self.right))
        check = os.path.join(self.folder, "tests", "shared", "negative_control", "check.py")
        with open(check, "a", encoding="utf-8") as stream:
            stream.write("\ndef grade(problem, submission, report):\n    raise KeyError('planted')\n")
        logs = os.path.join(self.work, "logs")
        done = subprocess.run(
            ["sh", f"{self.folder}/tests/test.sh", "--submission", self.path, "--logs", logs],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 4)
        self.assertIn("verifier fault: KeyError", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(logs, "reward.json")))

    def test_files_beside_the_submission_cannot_change_what_is_imported(self):
        self.write(encode({**self.right, "sum": 0}))
        for name in ("json.py", "sitecustomize.py", "hashlib.py"):
            with open(os.path.join(self.work, name), "w", encoding="utf-8") as stream:
                stream.write("raise SystemExit(0)\n")
        environment = {**os.environ, "PYTHONPATH": self.work, "PYTHONSTARTUP": os.path.join(self.work, "json.py")}
        logs = os.path.join(self.work, "logs")
        done = subprocess.run(
            ["sh", f"{self.folder}/tests/test.sh", "--submission", self.path, "--logs", logs],
            capture_output=True, text=True, check=False, cwd=self.work, env=environment,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "reward 0, failed check: answer.values\n"))


class Text(unittest.TestCase):
    """Submission bytes judged directly."""

    @classmethod
    def setUpClass(cls):
        cls.side = Side("verifiers", "negative_control")
        cls.problem = problem_of(TASK)
        cls.right = Side("oracle", "negative_control").solve(cls.problem)
        cls.body = json.dumps(cls.right)

    def failed(self, data):
        reward, verdict = self.side.judge(self.problem, data)
        self.assertEqual(reward["reward"], int(verdict["failed"] is None))
        return verdict["failed"]

    def with_sum(self, text):
        return json.dumps({**self.right, "sum": "@"}).replace('"@"', text).encode()

    def test_numbers_with_the_same_integral_value_are_the_same(self):
        total = self.right["sum"]
        for text in (f"{total}", f"{total}.0", f"{total}.000", f"{total}e0", f"{total}0e-1", f"{total * 100}E-2"):
            self.assertIsNone(self.failed(self.with_sum(text)), text)

    def test_other_numbers_are_refused_by_their_kind(self):
        for text, check in (
            ("true", "submission.shape"),
            ("null", "submission.shape"),
            (f'"{self.right["sum"]}"', "submission.shape"),
            (f"{self.right['sum']}.5", "submission.shape"),
            ("NaN", "submission.numbers"),
            ("-Infinity", "submission.numbers"),
            ("1e401", "submission.numbers"),
            ("1e-99999999999", "submission.numbers"),
            ("1e400", "submission.shape"),
            ("9" * 4001, "submission.numbers"),
            ("9" * 4000, "submission.shape"),
            ("1." + "0" * 5000, "submission.numbers"),
            ("01", "submission.syntax"),
            ("+1", "submission.syntax"),
        ):
            self.assertEqual(self.failed(self.with_sum(text)), check, text[:40])

    def test_texts_that_two_readers_could_read_differently_are_refused(self):
        body = self.body.encode()
        for data, check in (
            (b"", "submission.syntax"),
            (b"[]", "submission.shape"),
            (b"null", "submission.shape"),
            (body + b"x", "submission.syntax"),
            (body + body, "submission.syntax"),
            (body[:-1] + b',"sum":1}', "submission.unique-keys"),
            (body[:-1] + b',"s\\u0075m":1}', "submission.unique-keys"),
            (body[:-1] + b',"parity":"odd"}', "submission.unique-keys"),
            (body[:-1] + b',"extra":{"a":1,"a":1}}', "submission.unique-keys"),
            (body[:-1] + b',"note":"looks right to me"}', "submission.shape"),
            (b"\xff\xfe" + body, "submission.utf8"),
            (body.replace(b"parity-", b"p\xffrity-") if b"parity-" in body else b"\xff", "submission.utf8"),
            (b"\xef\xbb\xbf" + body, "submission.syntax"),
            (body[:-1] + b',"\\ud800":1}', "submission.utf8"),
            (b"[" * 33 + b"]" * 33, "submission.depth"),
            (b"[" * 500_000, "submission.depth"),
            (b'{"a":' * 200_000, "submission.depth"),
            (b'"' + b"[" * 900_000 + b'"', "submission.shape"),
            (b'"' + b'\\"' * 500_000, "submission.syntax"),
            (b'"' + b"\\" * 999_999, "submission.syntax"),
        ):
            self.assertEqual(self.failed(data), check, data[:60])

    def test_a_verdict_lists_every_check_and_bounds_its_details(self):
        _, verdict = self.side.judge(self.problem, json.dumps({**self.right, "k" * 100_000: "\u00e9" * 9}).encode())
        self.assertEqual(verdict["schemaVersion"], "1")
        self.assertEqual(len({check["id"] for check in verdict["checks"]}), len(verdict["checks"]))
        self.assertLess(len(json.dumps(verdict)), 6000)
        self.assertIn(verdict["failed"], {check["id"] for check in verdict["checks"] if not check["passed"]})

    def test_a_control_never_reads_prose(self):
        self.assertEqual(self.failed(json.dumps({**self.right, "parity": "Even."}).encode()), "submission.shape")


class Files(unittest.TestCase):
    def test_the_public_input_and_the_frozen_one_are_the_same_bytes_and_never_name_the_task(self):
        for task in host_check.task_ids():
            with open(os.path.join(ROOT, "tasks", task, "environment", "input.json"), "rb") as stream:
                public = stream.read()
            with open(os.path.join(ROOT, "verifiers", task, "input.json"), "rb") as stream:
                self.assertEqual(stream.read(), public, task)
            self.assertNotIn(task.encode(), public)


if __name__ == "__main__":
    unittest.main()
