"""`.file` and `.loc`: the source line of each PTX line, inlined functions included, in the forms that compilers write."""

import pytest

from rfview.engine.launch.sources import MAX_BYTES, source_texts
from rfview.engine.ptx import load_module
from rfview.engine.ptx.parse.locations import locations

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
CORPUS = "tests/corpus"


def table(body, files='.file 1 "/k/app.cu"\n.file 2 "/usr/include/lib.hpp"\n.file 3 "/k/inc/own.cuh"\n', tail=""):
    return locations(f"{HEAD}.visible .entry k() {{\n{body}\nret;\n}}\n{files}{tail}")


def lines(found, first, count):
    return [place and (place.file, place.line) for place in (found.own(first + k) for k in range(count))]


def test_a_place_holds_until_the_next_one_and_not_into_the_next_function():
    found = locations(HEAD + '.visible .entry k() {\n.loc 1 7 3\nmov;\nadd;\n.loc 1 9\nret;\n}\n'
                      '.visible .entry l() {\nret;\n}\n.file 1 "a.cu"\n')
    assert lines(found, 4, 10) == [None, (1, 7), (1, 7), (1, 7), (1, 9), (1, 9), (1, 9), None, None, None]
    assert [place.column for place in found.at(6)] == [3]


def test_what_was_inlined_from_a_library_belongs_to_the_line_that_calls_it():
    found = table(".loc 1 5 1\nadd;\n.loc 2 30 2, function_name $n, inlined_at 1 6 4\nmul;\n"
                  ".loc 2 40 2, function_name $n + 4, inlined_at 2 30 2\nsub;\n"
                  ".loc 3 8 1, function_name $n, inlined_at 1 7 2\nxor;",
                  tail=".section .debug_str { $n: .b8 105,110,110,0,100,101,101,112,0 }")
    assert lines(found, 5, 8) == [(1, 5), (1, 5), (1, 6), (1, 6), (1, 6), (1, 6), (3, 8), (3, 8)]
    assert [(place.file, place.line) for place in found.at(10)] == [(2, 40), (2, 30), (1, 6)]
    assert [found.function(place) for place in found.at(10)] == ["deep", "inn", ""]


def test_a_line_of_0_is_none_and_leaves_the_word_to_the_caller():
    found = table(".loc 1 0 5\nadd;\n.loc 2 0 0, function_name $n, inlined_at 1 6 4\nmul;")
    assert lines(found, 5, 4) == [None, None, (1, 6), (1, 6)]


def test_a_file_may_have_its_folder_apart_and_its_size():
    found = table(".loc 4 2 1", files='.file 4 "/a b/c" "d.py"\n.file 5 "e\\"f.cu", 1700000000, 123\n')
    assert [(file.path, file.size) for file in found.files.values()] == [("/a b/c/d.py", -1), ('e"f.cu', 123)]


def test_the_bytes_of_a_files_name_are_written_in_octal():
    found = table(".loc 4 2 1", files=r'.file 4 "/\303\234bung 3/w\303\244rme\\8.cu"' + '\n.file 5 "/λ/\\377.cu"\n')
    assert [file.path for file in found.files.values()] == ["/Übung 3/wärme\\8.cu", "/λ/\ufffd.cu"]


@pytest.mark.parametrize("bad", [
    ".loc", ".loc 1", ".loc 9 9 9", ".loc 1 99999999999999999999999999 1", ".loc 1 5 1, inlined_at", ".loc 1 5 1, function_name",
    ".loc 1 5 1, function_name $n + , inlined_at 1", ".loc -1 5", ".file", '.file "x"', ".file 1", ".loc 1 5 1, inlined_at 1 5 1",
])
def test_broken_directives_name_no_line_that_is_not_there(bad):
    for place in table(bad + "\nadd;").at(6):
        assert (place.file, place.line) == (1, 5)


def test_text_that_is_no_ptx_has_an_empty_table():
    assert locations('.loc .file "open').files == {} and locations("").at(1) == []


def test_the_texts_of_comments_and_strings_are_no_directives():
    found = table('/* .loc 1 5 1\n */ // .loc 1 6 1\nmov.u32 %r1, ".loc 1 7 1";')
    assert found.at(8) == []


@pytest.mark.parametrize("case, own", [("bit_ops/bit_ops.lineinfo", "bit_ops.cu"), ("triton_softmax/triton_softmax.sm75",
                                       "triton_softmax.py"), ("calls/calls.debug", "calls.cu")])
def test_every_instruction_of_nvcc_and_triton_has_a_line_of_its_own_source(case, own):
    module = load_module(f"{CORPUS}/{case}.ptx")
    found = locations(module.text)
    last = len(open(f"{CORPUS}/{case.split('/')[0]}/{own}").read().split("\n"))
    for name in module.kernels:
        for line in module.kernels[name].insts["line"].tolist():
            place = found.own(line)
            assert place is not None and found.files[place.file].path == own and 1 <= place.line <= last


# the source texts


def texts(path, folders, size=""):
    body = f'.loc 1 5 1\nadd;\nret;\n}}\n.file 1 "{path}"{size}\n'
    return [entry.text for entry in source_texts(locations(f"{HEAD}.visible .entry k() {{\n{body}"), folders)]


def test_a_source_is_found_beside_the_ptx_before_the_compilers_path(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a.cu").write_text("far")
    far = tmp_path / "far" / "a.cu"
    assert texts(far, [tmp_path]) == ["far"]
    (tmp_path / "a.cu").write_bytes(b"\xef\xbb\xbfbeside\r\nit\xff")
    assert texts(far, [tmp_path]) == ["beside\nit\ufffd"]
    assert texts("far/a.cu", [tmp_path / "none", tmp_path]) == ["beside\nit\ufffd"]


def test_a_source_that_was_changed_since_is_not_shown(tmp_path):
    (tmp_path / "a.cu").write_text("12345")
    assert texts("a.cu", [tmp_path], ", 1700000000, 5") == ["12345"]
    assert texts("a.cu", [tmp_path], ", 1700000000, 6") == []


def test_only_regular_files_of_source_code_are_read(tmp_path):
    import os

    (tmp_path / "secret").write_text("key")
    (tmp_path / "id_rsa.pem").write_text("key")
    (tmp_path / "large.cu").write_bytes(b"x" * (MAX_BYTES + 1))
    (tmp_path / "binary.cu").write_bytes(b"x\0y")
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    for name in ("secret", "id_rsa.pem", "large.cu", "binary.cu", "folder.cu", "pipe.cu", "/dev/zero", "/etc/passwd",
                 "x" * 5000 + ".cu", "none.cu", "../" * 40 + "etc/passwd"):
        assert texts(name, [tmp_path]) == [], name
