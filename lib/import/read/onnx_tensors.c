/* Tensors and types of ONNX. Numbers stand in raw bytes, in a field by type, or in a file beside the model:
 * the reader takes only the needed bytes, from a regular file whose path has no ".." and no root. */
#include "import/read/onnx.h"
#include "import/types/typing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct tensor_parts {
    int64_t dims[MODEL_MAX_RANK];
    int rank;
    int64_t type;
    enum model_element element;
    struct model_numbers numbers;
    struct wire raw;
    bool has_raw, external;
    const char *location; /* of external data; NULL: not stated */
    uint64_t offset, length;
    bool has_length;
};

/* ---- beside the model ---- */

static uint64_t tensor_external_number(const struct wire *w, const char *word)
{
    char *end = NULL;
    bool digits = *word >= '0' && *word <= '9' && strlen(word) < 19;
    uint64_t n = digits ? strtoull(word, &end, 10) : 0;
    if (!digits || *end) wire_fail(w, LX_E_SCHEMA, "external data at \"%.40s\", which is no number", word);
    return n;
}

/* A key and its value, which locate the data. */
static void tensor_external_entry(struct tensor_parts *p, struct wire entry)
{
    struct wire_field f;
    const char *key = "", *word = "";
    while (wire_next(&entry, &f)) {
        if (f.number == 1) key = wire_string(&f);
        if (f.number == 2) word = wire_string(&f);
    }
    if (strcmp(key, "offset") == 0) p->offset = tensor_external_number(&entry, word);
    if (strcmp(key, "length") == 0) p->length = tensor_external_number(&entry, word);
    p->has_length |= strcmp(key, "length") == 0;
    if (strcmp(key, "location") != 0) return;
    bool below = *word && *word != '/';
    for (const char *s = word; *s; s += strcspn(s, "/\\"), s += *s != 0)
        below &= strncmp(s, "..", 2) != 0 || strcspn(s, "/\\") != 2;
    p->location = word;
    if (!below)
        wire_fail(&entry, LX_E_SCHEMA,
                  "external data in \"%.200s\": name a file in the model's folder or below it", word);
}

/* Opens the file; -1: failed. A file that is not regular might block the reader. */
static int tensor_open_external(const struct tensor_parts *p, const char *model)
{
    char path[2 * MODEL_MAX_NAME + 2];
    struct stat info;
    const char *slash = strrchr(model, '/');
    int folder = slash ? (int)(slash - model) + 1 : 0;
    int n = p->location ? snprintf(path, sizeof path, "%.*s%s", folder, model, p->location) : -1;
    if (n < 0 || (size_t)n >= sizeof path) return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void tensor_add_raw(struct tensor_parts *p, const unsigned char *at, size_t bytes)
{
    size_t size = (size_t)model_element_row(p->element)->bits / 8;
    if (size == 0 || size > 8) return;
    for (size_t i = 0; i < bytes / size && i < MODEL_MAX_KNOWN; i++) {
        uint64_t bits = 0;
        for (size_t k = size; k-- > 0;) bits = bits << 8 | at[i * size + k];
        numbers_add_bits(&p->numbers, p->element, bits);
    }
    p->numbers.count = (int64_t)(bytes / size);
}

/* Reads external numbers, if `wanted`. False: the file is missing or too short. */
static bool tensor_read_external(struct tensor_parts *p, const char *model, size_t size, bool wanted)
{
    int fd = tensor_open_external(p, model);
    bool there = fd >= 0 && (!wanted || !p->has_length || p->length == size);
    if (there && wanted) {
        OWNED unsigned char *bytes = mem_alloc(size + 1);
        size_t n = 0;
        for (ssize_t got = 1; n < size && got > 0; n += got > 0 ? (size_t)got : 0)
            got = pread(fd, bytes + n, size - n, (off_t)(p->offset + n));
        there = n == size;
        if (there) tensor_add_raw(p, bytes, size);
    }
    if (fd >= 0) close(fd);
    return there;
}

/* ---- tensors ---- */

/* Reads the type before the numbers: fields come in any order. */
static void tensor_fields(struct wire w, struct tensor_parts *p, const char **name)
{
    struct wire_field f;
    uint64_t v;
    for (struct wire at = w; wire_next(&at, &f);) {
        while (f.number == 1 && wire_number(&f, WIRE_NUMBER, &v)) {
            if ((int64_t)v < 0) wire_fail(&w, LX_E_RANGE, "an extent below 0");
            if (p->rank == MODEL_MAX_RANK)
                wire_fail(&w, LX_E_LIMIT, "more than %d dimensions", MODEL_MAX_RANK);
            else
                p->dims[p->rank++] = (int64_t)v;
        }
        if (f.number == 2) p->type = (int64_t)f.value;
        if (f.number == 8) *name = wire_string(&f);
        if (f.number == 13 && f.kind == WIRE_BYTES) tensor_external_entry(p, f.body);
        if (f.number == 14) p->external = f.value == 1;
        if (f.number == 9 && f.kind == WIRE_BYTES) {
            p->raw = f.body;
            p->has_raw = true;
        }
    }
    p->element = model_element_of_onnx(p->type);
    if (p->element == MODEL_ELEMENT_COUNT)
        wire_fail(&w, LX_E_UNKNOWN_KIND, "a tensor of data type %lld, which has no size", (long long)p->type);
    while (!p->has_raw && !p->external && wire_next(&w, &f)) {
        bool bits = f.number == 4 || f.number == 5 || f.number == 7 || f.number == 10 || f.number == 11;
        enum wire_kind kind = f.number == 4 ? WIRE_4 : f.number == 10 ? WIRE_8 : WIRE_NUMBER;
        while (bits && wire_number(&f, kind, &v)) numbers_add_bits(&p->numbers, p->element, v);
    }
}

const struct model_data *onnx_tensor(struct wire w, const char **name)
{
    struct tensor_parts p = {.numbers.most = MODEL_MAX_KNOWN};
    struct model_data *d = arena_alloc(&w.m->memory, sizeof *d);
    tensor_fields(w, &p, name);
    d->type = *w.failed ? NULL : model_type_make(w.m, p.element, p.rank, p.dims, w.st);
    *w.failed |= !d->type;
    if (!*w.failed) {
        const struct model_element_row *row = model_element_row(p.element);
        bool numbers = row->number != MODEL_COMPLEX && row->number != MODEL_NO_NUMBER && row->bits >= 8;
        bool known = numbers && d->type->elements <= MODEL_MAX_KNOWN;
        d->form = DATA_ABSENT;
        if (p.has_raw || p.numbers.count || d->type->elements == 0) d->form = DATA_BYTES;
        if (p.external && d->type->elements > 0) {
            d->form = DATA_EXTERNAL;
            d->missing = !tensor_read_external(&p, w.m->file, (size_t)d->type->bytes, known);
            numbers = known && !d->missing;
        } else if (p.has_raw && !p.external) {
            tensor_add_raw(&p, p.raw.at, (size_t)(p.raw.end - p.raw.at));
        }
        if (d->form != DATA_ABSENT && numbers && !numbers_keep(w.m, &p.numbers, d))
            wire_fail(&w, LX_E_SHAPE, "%lld numbers for a tensor of %lld", (long long)p.numbers.count,
                      (long long)d->type->elements);
    }
    numbers_free(&p.numbers);
    return d;
}

/* ---- types ---- */

/* A dimension: a number or a name; one without either is called "input:axis". */
static int64_t tensor_dimension(struct onnx *o, struct wire w, struct onnx_info *of, int axis, bool ask)
{
    struct wire_field f;
    char name[MODEL_MAX_NAME + 24];
    bool named = false;
    int64_t extent = -1;
    snprintf(name, sizeof name, "%s:%d", of->name, axis);
    while (wire_next(&w, &f)) {
        if (f.number == 1) extent = (int64_t)f.value;
        if (f.number != 2 || f.body.at == f.body.end) continue;
        snprintf(name, sizeof name, "%s", wire_string(&f));
        named = true;
    }
    if (extent >= 0 && !named) return extent;
    extent = -1;
    of->exact = false;
    if (!o->failed && !model_extent_given(o->w.m, o->options, name, &extent) && ask)
        model_extent_ask(o->unbound, name);
    return extent;
}

/* The type of a tensor; refuses inputs whose types have no size. */
static void tensor_type_of(struct onnx *o, struct wire w, struct onnx_info *of, bool ask)
{
    struct wire_field f, g, dim;
    int64_t extent[MODEL_MAX_RANK + 1], number = 0;
    int rank = -1;
    for (struct wire at = w; wire_next(&at, &f);) {
        if (f.number != 1 && f.kind == WIRE_BYTES && f.number <= 9 && f.number != 6 && ask)
            wire_fail(
                &w, LX_E_UNKNOWN_KIND,
                "input %.80s is a sequence, a map, sparse or optional: it has no size; export the model with "
                "tensors as inputs, one for each member",
                of->name);
        for (struct wire t = f.body; f.number == 1 && wire_next(&t, &g);) {
            if (g.number == 1) number = (int64_t)g.value;
            if (g.number != 2) continue;
            rank = 0;
            for (struct wire shape = g.body; wire_next(&shape, &dim);) {
                if (dim.number != 1) continue;
                if (rank == MODEL_MAX_RANK) wire_fail(&shape, LX_E_LIMIT, "more than %d dimensions", rank);
                if (!o->failed) extent[rank] = tensor_dimension(o, dim.body, of, rank, ask), rank++;
            }
        }
    }
    enum model_element e = model_element_of_onnx(number);
    if (o->failed || rank < 0 || e == MODEL_ELEMENT_COUNT) return;
    of->type = model_type_make(o->w.m, e, rank, extent, o->w.st);
    o->failed |= !of->type;
}

struct onnx_info onnx_value_info(struct onnx *o, struct wire w, const struct names *known)
{
    struct wire_field f;
    struct onnx_info info = {.name = "", .exact = true};
    for (struct wire at = w; wire_next(&at, &f);)
        if (f.number == 1) info.name = wire_string(&f);
    bool ask = known && names_find(known, info.name) < 0;
    while (wire_next_of(&w, 2, &f)) tensor_type_of(o, f.body, &info, ask);
    return info;
}
