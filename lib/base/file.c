/* Whole files: read into one growing buffer, written beside their place and renamed over it. Every error
 * names the file; a failed write leaves the old file and no temporary file. */
#include "base/file.h"
#include "base/base.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool too_large(const char *path, lx_status *st)
{
    return status_set_at(
        st, LX_E_LIMIT, path, 0, 0,
        "larger than %zu MiB, the most that is read; give a part of it, or keep its data in another file",
        FILE_MAX_BYTES >> 20);
}

static bool io_failed(lx_status *st, const char *path, const char *verb, int error)
{
    if (error == ENOMEM) memory_out();
    return status_set_at(st, LX_E_IO, path, 0, 0, "cannot %s: %s", verb, strerror(error));
}

/* Reads to the end of `fd`; `expected` is only a hint, pipes have none. */
static char *file_read_all(int fd, const char *path, size_t expected, size_t *length, lx_status *st)
{
    size_t room = expected + 2 < 4096 ? 4096 : expected + 2, n = 0; /* one byte more, to see the end */
    char *data = mem_alloc(room);
    for (;;) {
        if (n + 1 >= room) data = mem_resize(data, room *= 2);
        ssize_t got = read(fd, data + n, room - n - 1);
        if (got < 0 && errno == EINTR) continue;
        n += got > 0 ? (size_t)got : 0;
        if (got > 0 && n <= FILE_MAX_BYTES) continue;
        if (got == 0) break;
        if (got < 0)
            io_failed(st, path, "read", errno);
        else
            too_large(path, st);
        mem_free(data);
        return NULL;
    }
    data[n] = 0;
    *length = n;
    return data;
}

char *file_read(const char *path, size_t *length, lx_status *st)
{
    if (strcmp(path, "-") == 0) return file_read_all(STDIN_FILENO, "standard input", 0, length, st);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        io_failed(st, path, "open", errno);
        return NULL;
    }
    struct stat info;
    char *data = NULL;
    if (fstat(fd, &info) != 0)
        io_failed(st, path, "read", errno);
    else if (S_ISDIR(info.st_mode))
        status_set_at(st, LX_E_IO, path, 0, 0, "is a folder; name a file in it");
    else if (S_ISREG(info.st_mode) && info.st_size > (off_t)FILE_MAX_BYTES)
        too_large(path, st);
    else
        data = file_read_all(fd, path, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0, length, st);
    close(fd);
    return data;
}

static bool write_fully(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

/* The target of a dangling link, following all links; NULL: `path` is no link. */
static char *linked_place(const char *path)
{
    char to[4096], *place = NULL;
    for (int hops = 0; hops < 40; hops++) {
        const char *link = place ? place : path, *slash = strrchr(link, '/');
        ssize_t n = readlink(link, to, sizeof to - 1);
        if (n <= 0 || n == (ssize_t)sizeof to - 1) return place;
        to[n] = 0;
        char *next =
            *to == '/' || !slash ? mem_string(to) : mem_format("%.*s/%s", (int)(slash - link), link, to);
        mem_free(place);
        place = next;
    }
    return place;
}

/* Replaces `path` by a new file; `before`: the present file, or NULL. With `kept` the file stays open, locked
 * before it becomes visible. A file system without locks needs none. */
static bool replace_file(const char *path, const struct stat *before, const char *data, size_t length,
                         int *kept, lx_status *st)
{
    /* A link stays a link: its target is replaced. */
    char *real = before ? realpath(path, NULL) : NULL, *temporary = NULL;
    OWNED char *pointed_to = real ? mem_string(real) : before ? NULL : linked_place(path);
    free(real);
    const char *target = pointed_to ? pointed_to : path;
    /* The umask sets the permissions; mkstemp would make the file private. */
    int fd = -1;
    for (int i = 0; (!before || pointed_to) && i < 1000; i++) {
        mem_free(temporary);
        temporary = mem_format("%s.%ld.%d.tmp", target, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) break;
    }
    bool made = fd >= 0, ok = made && write_fully(fd, data, length) &&
                              (!before || fchmod(fd, before->st_mode & 0777) == 0) && fsync(fd) == 0;
    if (ok && kept) (void)flock(fd, LOCK_EX | LOCK_NB);
    int saved = errno;
    if (made && (!kept || !ok) && close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(temporary, target) != 0) {
        ok = false;
        saved = errno;
        if (kept) close(fd);
    }
    if (ok) {
        /* Flush the folder's entry too, or a power cut could undo the rename. */
        const char *slash = strrchr(target, '/');
        OWNED char *folder = slash ? mem_string_n(target, (size_t)(slash - target) + 1) : mem_string(".");
        int in = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (in >= 0) {
            (void)fsync(in);
            close(in);
        }
        if (kept) *kept = fd;
    } else {
        if (made) unlink(temporary);
        io_failed(st, path, "write", saved);
    }
    mem_free(temporary);
    return ok;
}

bool file_write(const char *path, const char *data, size_t length, lx_status *st)
{
    if (strcmp(path, "-") == 0) {
        if (write_fully(STDOUT_FILENO, data, length)) return true;
        return status_set(st, LX_E_IO, "cannot write to standard output: %s", strerror(errno));
    }
    /* A device or a pipe cannot be replaced by a rename: write into it. */
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return status_set_at(st, LX_E_IO, path, 0, 0, "is a folder; give a file name");
    if (exists && !S_ISREG(info.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool ok = fd >= 0 && write_fully(fd, data, length);
        if (!ok) io_failed(st, path, "write", errno);
        if (fd >= 0) close(fd);
        return ok;
    }
    if (exists && !(info.st_mode & 0222))
        return status_set_at(st, LX_E_IO, path, 0, 0, "is read-only; make it writable, or give another name");
    return replace_file(path, exists ? &info : NULL, data, length, NULL, st);
}

int file_replace_locked(const char *path, const char *data, size_t length, lx_status *st)
{
    struct stat info;
    int fd = -1;
    bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode))
        return status_set_at(st, LX_E_IO, path, 0, 0, "is not a regular file; give another name"), -1;
    return replace_file(path, exists ? &info : NULL, data, length, &fd, st) ? fd : -1;
}
