/* Whole files in and out. Reading is bounded; writing goes to a temporary file in the same folder, is flushed
 * to the disk and renamed, so a reader never sees half a file and an error keeps the old file. "-" is
 * standard input or standard output. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The largest file read: 512 MiB holds a problem of a million buffers. */
#define FILE_MAX_BYTES ((size_t)512 << 20)

/* A malloc'ed, terminated copy of the file, or NULL. */
char *file_read(const char *path, size_t *length, lx_status *st);
bool file_write(const char *path, const char *data, size_t length, lx_status *st);
/* The same for a regular file, which stays open for appending: returns its descriptor, or -1. It holds an
 * exclusive flock before the file becomes visible, so no other process gets in between. */
int file_replace_locked(const char *path, const char *data, size_t length, lx_status *st);
