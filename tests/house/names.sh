#!/bin/sh
# names.sh ROOT: fails when names are not as agreed, one line per fault:
#   - the top folder has nothing but the names in `top`, and what git ignores;
#   - no two C files of app, lib, solvers and tests have one name, or one stem in two folders: a name says what
#     the file does, and "options.c" must not need the question which;
#   - no C file has more than 600 lines, no folder of app, lib and solvers more than 40 files;
#   - no two files of app, lib and solvers define functions of one name: grep and gdb find one place;
#   - every folder has its README.md, the one at the top of at most 180 lines, other pages of at most 300;
#   - every file exists that the table "Where a change goes" of CONTRIBUTING.md names (in backquotes, * allowed);
#   - every C file exists that a comment or a page of app, lib and solvers names;
#   - no file has a note to its author in it, or a path of one machine.
top=' .ci .clang-format .clang-tidy .editorconfig .github .gitignore CMakeLists.txt CMakePresets.json CONTRIBUTING.md
 LICENSE NEWS.md README.md app bootstrap lib patterns solvers tests '
longest=600
readme_lines=180
page_lines=300
fullest=40

cd "$1" || exit 2
files=$(mktemp) || exit 2
faults=$(mktemp) || exit 2
trap 'rm -f "$files" "$faults"' EXIT

# What git has; in a tree without git, what is in the agreed places.
git ls-files >"$files" 2>/dev/null || [ -s "$files" ] || find $top -type f >"$files" 2>/dev/null
[ "$(wc -l <"$files")" -ge 100 ] || {
    echo "only $(wc -l <"$files") files below $1"
    exit 1
}
c_files() {
    grep -E '^(app|lib|solvers|tests)/.*\.[ch]$' "$files" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

agreed_at_the_top() {
    sed 's,/.*,,' "$files" | sort -u | while read -r name; do
        case $top in
        *[[:space:]]"$name"[[:space:]]*) ;;
        *) echo "$name: not one of the agreed names at the top (tests/house/names.sh lists them)" ;;
        esac
    done
}

one_stem_per_folder() {
    c_files | awk -F/ '{
        stem = $NF; sub(/\.[ch]$/, "", stem)
        folder = $0; sub(/\/[^\/]*$/, "", folder)
        if (stem in home && home[stem] != folder)
            print $0 ": there is another " stem " in " home[stem] "; give one of them a name of its own"
        home[stem] = folder
    }'
}

not_too_long() {
    c_files | xargs wc -l | awk -v most=$longest '$2 != "total" && $1 > most {
        print $2 ": " $1 " lines, of at most " most ": cut it where it has a second idea" }'
}

folders_that_fit() {
    grep -E '^(app|lib|solvers)/.*\.(c|h|inc|def)$' "$files" | sed 's,/[^/]*$,,' | sort | uniq -c |
        awk -v most=$fullest '$1 > most { print $2 ": " $1 " files, of at most " most ": make folders of its themes" }'
}

# A definition is a head in the first column, over one line or several, and a brace in the first column below it.
one_function_per_name() {
    c_files | grep -v '^tests/' | xargs awk '
        FNR == 1 { head = "" }
        /^[A-Za-z_].*\(/ && !/;/ && !/^(typedef|struct [a-z_0-9]* \{)/ { head = $0 }
        /;/ { head = "" }
        /^\{/ && head != "" {
            name = head; gsub(/__attribute__\(\([a-z_]*(\([^)]*\))?\)\) */, "", name); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            if (name != "main" && name != "" && name in home && home[name] != FILENAME)
                print FILENAME ": " home[name] " has a function " name ", too: begin its name with the noun of its file"
            home[name] = FILENAME; head = ""
        }'
}

readmes() {
    for folder in . app lib solvers tests patterns; do
        [ -f $folder/README.md ] || echo "$folder/README.md: missing"
    done
    [ ! -f README.md ] || [ "$(wc -l <README.md)" -le $readme_lines ] ||
        echo "README.md: $(wc -l <README.md) lines, of at most $readme_lines; details belong to the folders' READMEs"
    grep -E '^[^/]*/.*\.md$' "$files" | while read -r page; do
        [ ! -f "$page" ] || [ "$(wc -l <"$page")" -le $page_lines ] || echo "$page: $(wc -l <"$page") lines, of at most $page_lines"
    done
}

files_of_the_table() {
    names=$(awk '/^## /{inside = $0 == "## Where a change goes"} inside && /^\|/' CONTRIBUTING.md |
        grep -oE '`(app|lib|solvers|tests|patterns)/[^`]*`' | tr -d '`' | sort -u)
    for name in $names; do
        # shellcheck disable=SC2086  # a star stands for files
        ls -d $name >/dev/null 2>&1 || echo "CONTRIBUTING.md: names $name, which does not exist"
    done
    set -f
    set -- $names
    set +f
    [ $# -ge 15 ] || echo "CONTRIBUTING.md: only $# files in the table \"Where a change goes\""
}

files_of_comments() {
    grep -E '^(app|lib|solvers)/.*\.(c|h|def|md)$' "$files" | tr '\n' '\0' |
        xargs -0 grep -noE '(^|[ (`])([a-z_0-9]+/)*[a-z_0-9]{3,}\.(c|h|def)\b' 2>/dev/null | tr -d ' (`' |
        awk -F: -v known="$(sed 's,.*/,,' "$files" | tr '\n' ' ') stdio.h glpk.h mine.c nothing.c" '
            BEGIN { n = split(known, list, " "); for (i = 1; i <= n; i++) is[list[i]] = 1 }
            { base = $3; sub(/.*\//, "", base); if (!(base in is)) print $1 ":" $2 ": names " $3 ", which does not exist" }'
}

no_private_notes() {
    grep -v '^tests/house/names\.sh$' "$files" | tr '\n' '\0' |
        xargs -0 grep -InE '\b(TODO|FIXME|XXX)\b|(^|[^A-Za-z0-9_.}/])/(home|root|work|Users|mnt)/[a-z]' 2>/dev/null |
        sed 's/^\([^:]*:[0-9]*\):/\1: a note to its author, or a path of one machine: /'
}

{
    agreed_at_the_top
    one_stem_per_folder
    not_too_long
    folders_that_fit
    files_of_comments
    one_function_per_name
    readmes
    files_of_the_table
    no_private_notes
} >"$faults" 2>&1
cat "$faults"
[ ! -s "$faults" ]
