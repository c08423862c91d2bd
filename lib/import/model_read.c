/* The way in for models: which format, and its reader. */
#include "import/model_parts.h"
#include "import/types/typing.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool model_begins(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    return length >= n && memcmp(text, word, n) == 0;
}

/* Spaces, and comments: to the end of their lines, or in brackets. */
static size_t model_skip_blank(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        if (strchr(" \t\r\n", text[i]) && text[i]) {
            i++;
        } else if (model_begins(text + i, length - i, "//")) {
            const char *end = memchr(text + i, '\n', length - i);
            i = end ? (size_t)(end - text) : length;
        } else if (model_begins(text + i, length - i, "/*")) {
            const char *end = memmem(text + i + 2, length - i - 2, "*/", 2);
            i = end ? (size_t)(end - text) + 2 : length;
        } else {
            break;
        }
    }
    return i;
}

static bool model_is_hlo(const char *text, size_t length)
{
    size_t i = model_skip_blank(text, length);
    return model_begins(text + i, length - i, "HloModule");
}

/* Text that has the word within; what begins as JSON is not looked through. */
static bool model_is_mlir(const char *text, size_t length)
{
    size_t i = model_skip_blank(text, length);
    if (i == length || !strchr("#mfbt\"", text[i]) || text[i] == 0) return false;
    return memmem(text + i, length - i, "func.func", 9) != NULL;
}

/* One message of fields that fit it to the end, with a graph (field 7) among them. The lengths are only
 * added up. */
static bool model_is_onnx(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    bool graph = false, version = false;
    if (length == 0 || *at > 0x7f) return false;
    for (int fields = 0; at < end && fields < 4096; fields++) {
        uint64_t n = 0;
        unsigned tag = *at++, shift = 0;
        unsigned char byte = 0x80;
        if ((tag & 7) != 0 && (tag & 7) != 2) return false;
        for (; at < end && (byte & 0x80) && shift < 63; shift += 7) {
            byte = *at++;
            n |= (uint64_t)(byte & 0x7f) << shift;
        }
        version |= tag == 8;
        graph |= tag == 0x3a;
        if ((tag & 7) == 0) continue;
        if (n > (size_t)(end - at)) return graph && version;
        at += n;
    }
    return graph;
}

enum model_format model_format_of(const char *text, size_t length)
{
    static bool (*const sniff[MODEL_FORMAT_COUNT])(const char *, size_t) = {
        [MODEL_TTIR] = model_is_mlir, [MODEL_HLO] = model_is_hlo, [MODEL_ONNX] = model_is_onnx};
    int f = 0;
    while (f < MODEL_FORMAT_COUNT && !sniff[f](text, length)) f++;
    return (enum model_format)f;
}

static bool model_all_used(const struct lx_model *m, const char *option, const struct lx_model_binding *list,
                           const bool *used, int count, lx_status *st)
{
    for (int i = 0; i < count; i++)
        if (!used[i])
            return status_set_at(st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
                                 "--%s %.100s: the file has no such name; leave it out, or correct it",
                                 option, list[i].name);
    return true;
}

/* HLO and ONNX have one that is run, so there is nothing to choose: a name that is said must be its own.
 * (A local function of ONNX has no types but those of its calls.) */
static bool model_is_entry(const struct lx_model *m, const char *wanted, lx_status *st)
{
    const char *entry = m->bodies.at[m->entry].name;
    bool hlo = m->format == MODEL_HLO;
    if (!wanted || m->format == MODEL_TTIR || strcmp(wanted + (hlo && *wanted == '%'), entry) == 0)
        return true;
    return status_set_at(
        st, LX_E_UNKNOWN_NAME, m->file, 0, 0,
        "--func %.100s: what can be imported is the %s, \"%.100s\"; say that or leave it out", wanted,
        hlo ? "entry computation" : "graph", entry);
}

/* Types as their kinds have them, and nothing said about what is not there. */
static bool model_is_sound(struct lx_model *m, const struct lx_model_options *o, lx_status *st)
{
    return model_is_entry(m, o->function, st) &&
           (m->format == MODEL_ONNX || (model_extents_bind(m, o, st) && model_check_types(m, st))) &&
           model_all_used(m, "dim", o->dims, m->dim_used, o->dim_count, st) &&
           model_all_used(m, "value", o->fixed, m->fixed_used, o->fixed_count, st);
}

struct lx_model *lx_model_read(const char *file, const char *text, size_t length,
                               const struct lx_model_options *options, lx_status *st)
{
    static bool (*const read[])(struct lx_model *, const char *, size_t, const struct lx_model_options *,
                                lx_status *) = {
        [MODEL_TTIR] = ttir_read, [MODEL_HLO] = hlo_read, [MODEL_ONNX] = onnx_read};
    static const struct lx_model_options none = {0};
    enum model_format format = model_format_of(text, length);
    if (format == MODEL_FORMAT_COUNT)
        return status_set_at(st, LX_E_SYNTAX, file, 1, 1,
                             "no model: TTIR has func.func, HLO begins with HloModule, ONNX is protobuf with "
                             "a graph in field 7"),
               NULL;
    struct lx_model *m = mem_zeroed(1, sizeof *m);
    m->format = format;
    m->file = arena_string(&m->memory, file);
    const struct lx_model_options *o = options ? options : &none;
    m->dim_used = arena_array(&m->memory, (size_t)o->dim_count + 1, sizeof *m->dim_used);
    m->fixed_used = arena_array(&m->memory, (size_t)o->fixed_count + 1, sizeof *m->fixed_used);
    bool room = m->file && m->dim_used && m->fixed_used;
    if (room) memset(m->dim_used, 0, (size_t)o->dim_count + 1);
    if (room) memset(m->fixed_used, 0, (size_t)o->fixed_count + 1);
    if (room && read[format](m, text, length, o, st) && model_is_sound(m, o, st)) return m;
    model_add_remedy(format, st);
    lx_model_free(m);
    return NULL;
}
