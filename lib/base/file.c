/* Whole files: read into one growing buffer, written beside their place and renamed over it. Every error
 * names the file; a failed write leaves what was there, and no temporary file. */
#include "base/file.h"
#include "base/fail.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* "cannot VERB", and why; memory that the system has not got is no fault of the file. */
static bool io_failed(lx_status *st, const char *path, const char *verb, int error)
{
    if (error == ENOMEM) return status_no_memory(st);
    return status_set_at(st, LX_E_IO, path, 0, 0, "cannot %s: %s", verb, strerror(error));
}

/* Reads to the end of `fd`; `expected` is only a hint, pipes have none. */
static char *file_read_all(int fd, const char *path, size_t expected, size_t *length, lx_status *st)
{
    size_t room = expected + 2 < 4096 ? 4096 : expected + 2, n = 0; /* so that the end is seen */
    char *data = mem_alloc(room);
    if (!data) return status_no_memory(st), NULL;
    for (;;) {
        if (n + 1 >= room) {
            char *bigger = mem_resize(data, room * 2);
            if (!bigger) {
                mem_free(data);
                return status_no_memory(st), NULL;
            }
            data = bigger;
            room *= 2;
        }
        ssize_t got = read(fd, data + n, room - n - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            io_failed(st, path, "read", errno);
            mem_free(data);
            return NULL;
        }
        if (got == 0) break;
        n += (size_t)got;
        if (n > FILE_MAX_BYTES) {
            mem_free(data);
            too_large(path, st);
            return NULL;
        }
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

/* The folder's entry must reach the disk too, or a power cut could undo the rename. */
static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? mem_string_n(path, (size_t)(slash - path) + 1) : mem_string(".");
    if (!folder) return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    mem_free(folder);
}

/* A new file beside `path`, with the rights that the umask gives; mkstemp would make it private. */
static int file_open_beside(const char *path, char **name)
{
    size_t room = strlen(path) + 64;
    *name = mem_alloc(room);
    if (!*name) return errno = ENOMEM, -1;
    for (int i = 0; i < 1000; i++) {
        snprintf(*name, room, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        int fd = open(*name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* Where a link that points to nothing points to, over all links on the way; NULL: `path` is no link, or memory is out. */
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

/* Puts a new file in the place of `path`; `before`: what is there, or NULL. With `kept` it stays open, locked
 * from before it can be seen. A file system without locks has none to wait for. */
static bool replace_file(const char *path, const struct stat *before, const char *data, size_t length,
                         int *kept, lx_status *st)
{
    /* A link stays a link: what it points to is replaced. */
    char *real = before ? realpath(path, NULL) : NULL, *temporary = NULL;
    char *pointed_to = real ? mem_string(real) : before ? NULL : linked_place(path);
    free(real);
    const char *target = pointed_to ? pointed_to : path;
    int fd = before && !pointed_to ? -1 : file_open_beside(target, &temporary);
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
    if (ok) sync_folder_of(target);
    if (!ok) {
        if (made) unlink(temporary);
        io_failed(st, path, "write", saved);
    }
    if (ok && kept) *kept = fd;
    mem_free(temporary);
    mem_free(pointed_to);
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
