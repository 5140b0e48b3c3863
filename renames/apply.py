#!/usr/bin/env python3
"""apply.py CHECKOUT [--no-tracee] [--no-format]: the rename pass over a checkout of the project.

Identifiers first (rules.py: NS, CODE, PATTERN), then files (MOVES, with includes, CMakeLists and
documents), then userspace/target -> userspace/tracee, then clang-format. Each step is idempotent:
what has been renamed already is skipped, what is not there any more is named on stderr.
Nothing is committed.
"""
import os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules

args = [a for a in sys.argv[1:] if not a.startswith('--')]
flags = {a for a in sys.argv[1:] if a.startswith('--')}
if len(args) != 1:
    sys.exit(__doc__)
root = os.path.abspath(args[0])
os.chdir(root)
notes = []


def note(text):
    notes.append(text)


def git(*words):
    return subprocess.run(['git', *words], check=True, capture_output=True, text=True).stdout


CODE_ENDS = ('.h', '.hpp', '.cpp', '.c', '.h.in', '.cpp.in')
ROOTS = ('analysis/', 'userspace/', 'bpf/', 'probes/src/', 'tests/')
all_files = [f for f in git('ls-files', '--cached', '--others', '--exclude-standard').split('\n')
             if f and os.path.isfile(f) and not os.path.islink(f)]
code_files = [f for f in all_files if f.endswith(CODE_ENDS) and f.startswith(ROOTS)
              and not f.startswith('tests/fuzz/corpus')]
text = {}
original = {}


def load(path):
    if path not in text:
        with open(path, encoding='utf-8', errors='surrogateescape') as file:
            text[path] = original[path] = file.read()
    return text[path]


# --- C and C++ text with its comments or its code blanked ------------------------------------------
TOKEN = re.compile(r'''//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"'''
                   r'''|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|[ \t]*\#[ \t]*include[^\n]*''',
                   re.S)


def blank(piece):
    return re.sub(r'[^\n]', '\x01', piece)


def views(source):
    """(code, comments): the same length each, the rest blanked. Strings and includes are in none."""
    code, comments, at = [], [], 0
    for found in TOKEN.finditer(source):
        between = source[at:found.start()]
        code.append(between)
        comments.append(blank(between))
        piece = found.group(0)
        code.append(blank(piece))
        comments.append(piece if piece.startswith('/') else blank(piece))
        at = found.end()
    code.append(source[at:])
    comments.append(blank(source[at:]))
    return ''.join(code), ''.join(comments)


def replace_in(source, view, pattern, new):
    """Replaces in source what the pattern finds in the view. Returns (source, count)."""
    out, at, count = [], 0, 0
    for found in pattern.finditer(view):
        out.append(source[at:found.start()])
        out.append(found.expand(new) if '\\' in new else new)
        at = found.end()
        count += 1
    out.append(source[at:])
    return ''.join(out), count


def humps(name):
    return len(re.findall(r'[A-Z][a-z0-9]*', name))


def in_comments(source, old, new, lower=False):
    """An identifier in prose: by its shape, or where an article, a backtick or :: says that it is one."""
    _, comments = views(source)
    word = re.escape(old)
    if re.match('k[A-Z]', old):
        pattern = rf'\b{word}\b'
    elif lower:
        pattern = rf'(?<=`){word}(?=[`(.])|(?<=::){word}\b|(?<![\w.]){word}(?=\(\))'
    elif humps(old) > 1:
        pattern = rf'(?<![\w:]){word}\b|(?<=::){word}\b'
    else:
        pattern = (rf'(?<=`){word}(?=[`(.:])|(?<=\b[Aa] ){word}\b|(?<=\b[Aa]n ){word}\b|(?<=\bthe ){word}\b'
                   rf'|(?<=\bone ){word}\b|(?<=\bowns ){word}\b|(?<=::){word}\b|(?<![\w]){word}(?=::|\'s\b)')
    source, count = replace_in(source, comments, re.compile(pattern), new)
    if count:
        vowel = new[0] in 'AEIOUaeiou' and not new.startswith(('Un', 'Us', 'Unit', 'One'))
        if new.startswith(('Unfi', 'Unus', 'Unkn')):
            vowel = True
        article = re.compile(rf"\b([Aa])n?(?= `?{re.escape(new)}\b)")
        _, comments = views(source)
        source, _ = replace_in(source, comments, article, r'\1n' if vowel else r'\1')
    return source, count


def matches(path, globs):
    return any(path == g or (g.endswith('/') and path.startswith(g)) or
               ('*' in g and re.fullmatch(re.escape(g).replace(r'\*', '.*'), path)) for g in globs)


# --- Identifiers ------------------------------------------------------------------------------------
def rename_in_namespace(space, old, new, extra, skip):
    hits = 0
    home_at = re.compile(rf'namespace (?:sojourn::)?{space}\b')
    using = re.compile(rf'using (?:sojourn::)?{space}::{old}\b')
    outside = re.compile(rf'(?<={space}::){old}\b')
    inside = re.compile(rf'(?<![\w:]){old}\b|(?<={space}::){old}\b|(?<=[^\w:]::){old}\b'
                        rf'|(?<=\b{old}::){old}\b')
    for path in code_files:
        source = load(path)
        if old not in source or matches(path, skip):
            continue
        code, _ = views(source)
        home = home_at.search(code) or using.search(code) or matches(path, extra)
        # Another module's file that forward-declares something of this one is no home.
        own = rules.HOMES.get(space, ())
        if home and not matches(path, extra) and own and not path.startswith(own):
            if not re.search(rf'using namespace (?:sojourn::)?{space}\b', code) and not using.search(code):
                home = None
        source, count = replace_in(source, code, inside if home else outside, new)
        if home and old[0].islower():  # a class's function of that name
            code, _ = views(source)
            source, more = replace_in(source, code, re.compile(rf'(\b[A-Z]\w*::){old}\b'), rf'\1{new}')
            count += more
        if home:
            source, more = in_comments(source, old, new)
        else:
            _, comments = views(source)
            source, more = replace_in(source, comments, outside, new)
        if count + more:
            text[path] = source
            hits += count + more
    return hits


def rename_in_code(globs, old, new):
    hits = 0
    pattern = re.compile(rf'\b{re.escape(old)}\b')
    for path in code_files:
        if not matches(path, globs):
            continue
        source = load(path)
        if old not in source:
            continue
        code, _ = views(source)
        source, count = replace_in(source, code, pattern, new)
        source, more = in_comments(source, old, new, lower=not old[0].isupper())
        if count + more:
            text[path] = source
            hits += count + more
    return hits


def rename_pattern(globs, expression, new):
    hits = 0
    pattern = re.compile(expression)
    for path in code_files:
        if not matches(path, globs):
            continue
        source = load(path)
        code, _ = views(source)
        source, count = replace_in(source, code, pattern, new)
        if r'\bk' in expression or r'\b(k' in expression:  # a constant: in comments as well
            _, comments = views(source)
            source, more = replace_in(source, comments, pattern, new)
            count += more
        if count:
            text[path] = source
            hits += count
    return hits


def rename_prose(globs, expression, new):
    hits = 0
    pattern = re.compile(expression)
    for path in code_files:
        if not matches(path, globs):
            continue
        source = load(path)
        _, comments = views(source)
        source, count = replace_in(source, comments, pattern, new)
        if count:
            text[path] = source
            hits += count
    return hits


def rename_identifiers():
    for rule in rules.IDENTIFIERS:
        kind = rule[0]
        if kind == 'ns':
            _, space, names, *rest = rule
            extra, skip = (rest + [(), ()])[:2]
            for old, new in names.items():
                if not rename_in_namespace(space, old, new, extra, skip):
                    note(f'{space}::{old}: not there (any more)')
        elif kind == 'code':
            _, globs, names = rule
            for old, new in names.items():
                if not rename_in_code(globs, old, new):
                    note(f'{old} in {" ".join(globs)[:60]}: not there (any more)')
        elif kind == 'prose':
            _, globs, expression, new = rule
            if not rename_prose(globs, expression, new):
                note(f'prose /{expression}/ in {" ".join(globs)[:60]}: not there (any more)')
        else:
            _, globs, expression, new = rule
            if not rename_pattern(globs, expression, new):
                note(f'/{expression}/ in {" ".join(globs)[:60]}: not there (any more)')


# --- Documents: names of types and files in backticks ------------------------------------------------
def rename_in_documents():
    documents = [f for f in all_files if f.endswith('.md') and f != 'docs/glossary.md']
    for rule in rules.IDENTIFIERS:
        if rule[0] != 'ns':
            continue
        for old, new in rule[2].items():
            pattern = re.compile(rf'\b{rule[1]}::{old}\b')
            for path in documents:
                source = load(path)
                if old in source:
                    text[path] = pattern.sub(f'{rule[1]}::{new}', source)
    for path, expression, new in rules.DOCUMENT_EDITS:
        if path not in documents or not re.search(expression, load(path)):
            note(f'/{expression}/ in {path}: not there (any more)')
            continue
        text[path] = re.sub(expression, new, load(path))
    for old, new in rules.DOCUMENT_WORDS.items():
        pattern = re.compile(rf'(?<=`){re.escape(old)}(?=[`(.:])')
        for path in documents:
            source = load(path)
            changed = pattern.sub(new, source)
            if changed != source:
                text[path] = changed


# --- Files --------------------------------------------------------------------------------------------
moved = {}


def plan_moves():
    present = set(all_files)
    for old, new in rules.MOVES:
        found = [f for f in present if f == old or re.fullmatch(re.escape(old) + r'\.(h|hpp|cpp|c|cpp\.in)', f)]
        if not found:
            note(f'file {old}: not there (any more)')
        for f in found:
            target = new + f[len(old):]
            if target in present:
                note(f'file {f}: {target} is there already')
                continue
            moved[f] = target


def path_pattern(path):
    return re.compile(rf'(?<![\w/.-]){re.escape(path)}(?![\w-])')


def retarget_references():
    """Full paths everywhere; names relative to a CMakeLists in it; bare names in comments and documents."""
    readable = [f for f in all_files if f.endswith(CODE_ENDS + ('.md', '.txt', '.cmake', '.sh', '.toml', '.S', '.py', '.mjs', '.ts'))
                or f.startswith(('.ci/',)) or '/' not in f or ('.' not in os.path.basename(f))]
    readable = [f for f in readable if not f.startswith('tests/fuzz/corpus')]
    base_count = {}
    for f in all_files:
        base_count[os.path.basename(f)] = base_count.get(os.path.basename(f), 0) + 1
    for f in readable:
        try:
            source = load(f)
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        changed = source
        here = os.path.dirname(f)
        for old, new in moved.items():
            base, new_base = os.path.basename(old), os.path.basename(new)
            stem, new_stem = base.split('.')[0], new_base.split('.')[0]
            if stem not in changed:
                continue
            changed = path_pattern(old).sub(new, changed)
            stem_path = old[:-len(base)] + stem
            # docs: `analysis/x/name` without an ending
            changed = re.sub(rf'(?<![\w/.-]){re.escape(stem_path)}(?=`)', new[:-len(new_base)] + new_stem, changed)
            if f.endswith(('CMakeLists.txt', '.cmake')) and here and old.startswith(here + '/'):
                changed = path_pattern(os.path.relpath(old, here)).sub(os.path.relpath(new, here), changed)
            if f.endswith(('CMakeLists.txt',)) and f.startswith('tests/') and old.startswith('tests/'):
                rel, new_rel = os.path.relpath(old, here or '.'), os.path.relpath(new, here or '.')
                if rel.startswith('..'):
                    changed = path_pattern(rel).sub(new_rel, changed)
                # names of executables and tests made of the source's name
            # the last two parts: "base/words.h", "capture/control/trigger.h"
            parts, new_parts = old.split('/'), new.split('/')
            if f.endswith(CODE_ENDS + ('.md',)):
                for take in (3, 2):
                    if len(parts) > take:
                        short = '/'.join(parts[-take:])
                        changed = path_pattern(short).sub('/'.join(new_parts[-take:]), changed)
                near = here == os.path.dirname(old) or here.startswith(os.path.dirname(old) + '/') or \
                    os.path.dirname(old).startswith(here + '/') if here else False
                if base_count[base] == 1 or near:
                    bare = re.compile(rf'(?<![\w/.-]){re.escape(base)}(?![\w-])')
                    if f.endswith('.md'):
                        changed = bare.sub(new_base, changed)
                    else:
                        _, comments = views(changed)
                        changed, _ = replace_in(changed, comments, bare, new_base)
        if changed != source:
            text[f] = changed


# --- userspace/target -> userspace/tracee -------------------------------------------------------------
def to_tracee():
    if not any(f.startswith('userspace/target/') for f in all_files):
        note('userspace/target: not there (any more)')
        return
    for f in all_files:
        for old, new in (('userspace/target/', 'userspace/tracee/'), ('tests/unit/target/', 'tests/unit/tracee/')):
            current = moved.get(f, f)
            if current.startswith(old):
                moved[f] = new + current[len(old):]
    space = re.compile(r'(?<![\w:])target(?=::)|(?<=sojourn::)target\b|(?<=\bnamespace )target\b')
    for f in all_files:
        if f.startswith('tests/fuzz/corpus') or f.startswith('.git/'):
            continue
        try:
            source = load(f)
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        changed = source
        if f.endswith(CODE_ENDS):
            code, _ = views(changed)
            changed, _ = replace_in(changed, code, space, 'tracee')
            _, comments = views(changed)
            changed, _ = replace_in(changed, comments, re.compile(r'(?<![\w:])target(?=::\w)'), 'tracee')
        elif f.endswith('.md'):
            changed = re.sub(r'(?<=`)target(?=::)', 'tracee', changed)
        # The folder, by its full path; and as CMake names it.
        changed = re.sub(r'(?<![\w/.-])userspace/target(?![\w-])', 'userspace/tracee', changed)
        changed = re.sub(r'(?<![\w/.-])tests/unit/target(?![\w-])', 'tests/unit/tracee', changed)
        changed = re.sub(r'(?<=/)(userspace|tests/unit)/target(?=/)', r'\1/tracee', changed)
        if f.endswith(('CMakeLists.txt', '.cmake')):
            for name in rules.TRACEE_CMAKE:
                changed = re.sub(rf'(?<![\w-]){name}(?![\w-])', name.replace('target', 'tracee'), changed)
        if f in ('userspace/CMakeLists.txt', 'tests/unit/CMakeLists.txt'):
            changed = re.sub(r'add_subdirectory\(target\)', 'add_subdirectory(tracee)', changed)
        for expression, new in rules.TRACEE_EXTRA.get(f, ()):
            changed = re.sub(expression, new, changed)
        if f == 'tests/unit/CMakeLists.txt' or f.startswith('.ci/') or f in ('test', 'demo') or f.endswith(('.md', '.json', '.txt')):
            changed = re.sub(r'(?<![\w-])unit-target(?![\w-])', 'unit-tracee', changed)
        if changed != source:
            text[f] = changed


# --- Go -------------------------------------------------------------------------------------------------
rename_identifiers()
rename_in_documents()
plan_moves()
retarget_references()
if '--no-tracee' not in flags:
    to_tracee()
touched = [f for f in text if text[f] != original[f]]
for f in touched:
    with open(f, 'w', encoding='utf-8', errors='surrogateescape') as file:
        file.write(text[f])
for old, new in moved.items():
    os.makedirs(os.path.dirname(new), exist_ok=True)
    tracked = subprocess.run(['git', 'ls-files', '--error-unmatch', old], capture_output=True).returncode == 0
    if tracked:
        git('mv', old, new)
    else:
        os.rename(old, new)
for extra in rules.OTHER_EDITS:
    path, expression, new = extra
    path = moved.get(path, path)
    if not os.path.exists(path):
        note(f'{path}: not there (any more)')
        continue
    with open(path, encoding='utf-8') as file:
        source = file.read()
    changed = re.sub(expression, new, source, flags=re.M)
    if changed != source:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(changed)
if '--no-format' not in flags:
    changed = sorted({moved.get(f, f) for f in touched} | set(moved.values()))
    changed = [f for f in changed if f.endswith(('.h', '.hpp', '.cpp', '.c')) and os.path.exists(f)]
    for at in range(0, len(changed), 100):
        subprocess.run(['clang-format-19', '-i', *changed[at:at + 100]], check=True)
    # A member whose name has become long, with a comment behind it, is broken in two: the comment goes above it.
    broken = re.compile(r'^( +)(\S[^\n(){}]*?\w) =\n +([^;\n]+;)  +// ([^\n]+)\n(?! {12,}//)', re.M)
    for f in changed:
        with open(f, encoding='utf-8', errors='surrogateescape') as file:
            source = file.read()
        fixed = broken.sub(lambda m: f'{m[1]}// {m[4][0].upper()}{m[4][1:]}{"" if m[4].endswith((".", ",")) else "."}\n{m[1]}{m[2]} = {m[3]}\n'
                           if not m[4].startswith(('k', '.')) else m[0], source)
        if fixed != source:
            with open(f, 'w', encoding='utf-8', errors='surrogateescape') as file:
                file.write(fixed)
            subprocess.run(['clang-format-19', '-i', f], check=True)
print(f'{len(touched)} files changed, {len(moved)} moved')
for line in notes:
    print('skipped:', line)
