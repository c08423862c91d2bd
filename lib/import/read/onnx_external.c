/* External data of ONNX: a location relative to the model, an offset and a length. Only the bytes that are
 * asked for are read, out of a regular file; a model may not point upwards or at the root, whoever wrote
 * it. */
#include "import/read/onnx.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every part is a name: not "..", and the first is not empty. */
static bool external_stays_below(const char *location)
{
    if (*location == '/' || *location == 0) return false;
    for (const char *s = location; *s; s += strcspn(s, "/\\"), s += *s != 0)
        if (strncmp(s, "..", 2) == 0 && strcspn(s, "/\\") == 2) return false;
    return true;
}

static bool external_number(const struct wire *w, const char *word, uint64_t *out)
{
    char *end = NULL;
    bool digits = *word >= '0' && *word <= '9' && strlen(word) < 19;
    *out = digits ? strtoull(word, &end, 10) : 0;
    return digits && *end == 0
               ? true
               : wire_fail(w, LX_E_SCHEMA, "external data at \"%.40s\", which is no number", word);
}

bool onnx_external_entry(struct onnx_external *x, struct wire entry)
{
    struct wire_field f;
    const char *key = "", *word = "";
    while (wire_next(&entry, &f)) {
        if (f.number == 1 && !(key = wire_string(&f))) return false;
        if (f.number == 2 && !(word = wire_string(&f))) return false;
    }
    if (*entry.failed) return false;
    if (strcmp(key, "location") == 0) {
        x->location = word;
        return external_stays_below(word)
                   ? true
                   : wire_fail(&entry, LX_E_SCHEMA,
                               "external data in \"%.200s\": name a file in the model's folder or "
                               "below it",
                               word);
    }
    if (strcmp(key, "offset") == 0) return external_number(&entry, word, &x->offset);
    x->has_length |= strcmp(key, "length") == 0;
    return strcmp(key, "length") == 0 ? external_number(&entry, word, &x->length) : true;
}

/* The file itself, open, or -1. One that is not regular would keep the reader waiting. */
static int external_open_beside(const char *location, const char *model)
{
    char path[2 * MODEL_MAX_NAME + 2];
    struct stat info;
    const char *slash = strrchr(model, '/');
    int folder = slash ? (int)(slash - model) + 1 : 0;
    int n = snprintf(path, sizeof path, "%.*s%s", folder, model, location);
    if (n < 0 || (size_t)n >= sizeof path) return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool onnx_external_there(const struct onnx_external *x, const char *model)
{
    int fd = x->location ? external_open_beside(x->location, model) : -1;
    if (fd >= 0) close(fd);
    return fd >= 0;
}

unsigned char *onnx_external_bytes(const struct onnx_external *x, const char *model, size_t wanted)
{
    int fd = x->location && (!x->has_length || x->length == wanted) ? external_open_beside(x->location, model)
                                                                    : -1;
    unsigned char *bytes = fd < 0 ? NULL : mem_alloc(wanted + 1);
    size_t n = 0;
    while (bytes && n < wanted) {
        ssize_t got = pread(fd, bytes + n, wanted - n, (off_t)(x->offset + n));
        if (got <= 0) break;
        n += (size_t)got;
    }
    if (fd >= 0) close(fd);
    if (n == wanted) return bytes;
    mem_free(bytes);
    return NULL;
}
