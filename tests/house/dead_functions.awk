# Reads C sources; prints functions that nothing of the program uses, one per line.
#
# A word of a function's body, of a table's initialiser or of a macro is an edge to whatever has that name; what cannot be
# reached from main is printed. Static functions count as part of their file only, so that two of one name stay apart.
# It errs on the side of use: a local variable that is called like a function keeps it, and "gen_##name" in a macro keeps
# all that begins with gen_. What the library offers to others (LX_API in its header) is reached from outside, and so is
# __wrap_NAME, which the linker puts in the place of NAME.

function key(name)
{
    return (FILENAME, name) in static_in ? FILENAME SUBSEP name : name
}

function refer(name)
{
    if (node == "" || (node, FILENAME, name) in edge_seen) return
    edge_seen[node, FILENAME, name] = is_node[node] = 1
    edge_count[node]++
    edge_file[node, edge_count[node]] = FILENAME
    edge_name[node, edge_count[node]] = name
}

# The node that an opening brace at file level begins: a function, a table, or nothing (struct, enum).
function begin(    i, name, inside)
{
    is_function = 0
    for (i = 1; i <= count; i++)
        if (token[i] == "=") {
            name = token[1]
            for (i = 1; token[i] != "=" && token[i] != "["; i++)
                if (token[i] ~ /^[A-Za-z_]/) name = token[i]
            return name
        }
    for (i = 1; i < count && (token[i + 1] != "(" || token[i] == "__attribute__"); i++) {
        if (token[i] != "__attribute__") continue
        inside = 0
        do { i++; inside += (token[i] == "(") - (token[i] == ")") } while (inside > 0 && i < count)
    }
    if (i >= count || token[i] !~ /^[A-Za-z_]/ || token[1] == "typedef") return ""
    is_function = 1
    return token[i]
}

function open_node(    name, i, hidden)
{
    name = begin()
    if (name == "") return
    hidden = 0
    for (i = 1; i <= count; i++) hidden = hidden || token[i] == "static"
    if (hidden && FILENAME !~ /\.h$/) static_in[FILENAME, name] = 1
    node = key(name)
    if (is_function && !(node in is_static)) {
        is_static[node] = hidden && FILENAME !~ /\.h$/
        defined_in[node] = FILENAME
        functions[++function_count] = node
    }
    for (i = 1; i <= count; i++) if (token[i] ~ /^[A-Za-z_]/ && token[i] != name) refer(token[i])
}

# A macro at file level, "WORDS(name, ...)": it makes what its first argument names, out of the others.
function in_macro(word)
{
    if (word == "(") macro_depth++
    else if (word == ")") macro_depth--
    else if (word ~ /^[A-Za-z_]/ && node == "") {
        node = key(word)
        refer(macro)
        if (macro ~ /^LX_(WORDS|HELPS)$/ && !(node in is_static)) {
            is_static[node] = 0
            defined_in[node] = FILENAME
            functions[++function_count] = node
        }
    } else if (word ~ /^[A-Za-z_]/) refer(word)
    if (macro_depth == 0) { macro = node = ""; count = 0 }
}

function take(word)
{
    if (macro != "") { in_macro(word); return }
    if (depth == 0 && word == "(" && count == 1 && token[1] ~ /^[A-Z][A-Z0-9_]*$/) {
        macro = token[1]
        macro_depth = 1
        node = ""
        return
    }
    if (depth == 0 && (word == "}" || (word == "{" && count == 1 && token[1] == "extern"))) { # extern "C" { ... }
        count = 0
        return
    }
    if (word == "{") {
        if (depth++ == 0) open_node()
        return
    }
    if (word == "}") {
        if (--depth == 0) { node = ""; if (is_function) count = 0 }
        return
    }
    if (depth > 0) { if (word ~ /^[A-Za-z_]/) refer(word); return }
    if (word == ";") {
        # A variable without braces may still name a function.
        if (count > 0) { open_plain() }
        if (token[1] == "LX_API") offer()
        count = 0
        return
    }
    token[++count] = word
}

# The function that a prototype of the public header declares: the last word before the first parenthesis.
function offer(    i)
{
    for (i = 1; i < count && token[i + 1] != "("; i++) continue
    offered[token[i]] = 1
}

# "static int (*f)(void) = g;" and the like.
function open_plain(    i, name, at)
{
    at = 0
    for (i = 1; i <= count && !at; i++) if (token[i] == "=") at = i
    if (!at) return
    name = ""
    for (i = 1; i < at; i++) if (token[i] ~ /^[A-Za-z_]/) name = token[i]
    node = name
    for (i = at; i <= count; i++) if (token[i] ~ /^[A-Za-z_]/) refer(token[i])
    node = ""
}

function scan(text, is_macro,    at, word)
{
    while (text != "") {
        if (in_comment) {
            at = index(text, "*/")
            if (!at) return
            in_comment = 0
            text = substr(text, at + 2)
        }
        if (!match(text, /[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9A-Za-z_.]*|[][(){};=]|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//)) return
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (word == "/*") in_comment = 1
        else if (word == "//") return
        else if (word ~ /^["'0-9]/) continue
        else if (word == "=" && substr(text, 1, 1) == "=") text = substr(text, 2)
        else if (is_macro && word ~ /_$/ && text ~ /^[ \t]*##/) refer(word "*")
        else if (is_macro) { if (word ~ /^[A-Za-z_]/) refer(word) }
        else take(word)
    }
}

FNR == 1 { depth = 0; count = 0; node = macro = ""; in_comment = 0; held = "" }

{
    line = held $0
    held = ""
    if (line ~ /^[ \t]*#/ && !in_comment) {
        if (line ~ /\\$/) { held = substr(line, 1, length(line) - 1) " "; next }
        if (line ~ /^[ \t]*#[ \t]*define/) {
            sub(/^[ \t]*#[ \t]*define[ \t]+/, "", line)
            match(line, /^[A-Za-z_0-9]+/)
            saved = node
            node = substr(line, 1, RLENGTH)
            scan(substr(line, RLENGTH + 1), 1)
            node = saved
        }
        next
    }
    scan(line, 0)
}

function reach(n,    other)
{
    if (n in reached) return
    reached[n] = 1
    stack[++top] = n
    if (n !~ /\*$/) return
    sub(/\*$/, "", n)
    for (other in is_node) if (substr(other, 1, length(n)) == n) reach(other)
}

function reach_from(n,    at, i, f, name)
{
    reach(n)
    while (top > 0) {
        at = stack[top--]
        for (i = 1; i <= edge_count[at]; i++) {
            f = edge_file[at, i]
            name = edge_name[at, i]
            reach((f, name) in static_in ? f SUBSEP name : name)
        }
    }
}

END {
    reach_from("main")
    for (name in offered) reach_from(name)
    for (i = 1; i <= function_count; i++) if (functions[i] ~ /^__wrap_/) reach_from(functions[i])
    for (i = 1; i <= function_count; i++) {
        at = functions[i]
        if (!is_static[at] && !(at in reached) && defined_in[at] !~ /^app\//)
            print defined_in[at] ": " at " has no user outside the tests; use it, remove it, or make it static"
    }
}
