/* Whole files in and out: nothing is lost when a write fails, and nothing endless is read. */
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* A folder of its own, removed with all that is in it. */
static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lxplan_base_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int files_in_folder(bool remove)
{
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        count++;
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (remove && unlink(path) != 0) rmdir(path);
    }
    closedir(d);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    files_in_folder(true);
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void assert_holds(const char *path, const char *expected)
{
    lx_status st;
    size_t length;
    char *data = file_read(path, &length, &st);
    assert_non_null(data);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(data, expected);
    mem_free(data);
}

static void file_writes_and_keeps_the_mode(void **state)
{
    (void)state;
    lx_status st;
    struct stat info;
    const char *path = in_folder("a.json");
    mode_t before = umask(027);
    assert_true(file_write(path, "one", 3, &st));
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_true(file_write(path, "second", 6, &st));
    assert_holds(path, "second");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
    assert_true(file_write(path, "", 0, &st));
    assert_holds(path, "");
    assert_int_equal(files_in_folder(false), 1);
    assert_true(file_write("/dev/null", "x", 1, &st)); /* not replaced by a file */
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* A write that fails half-way, as on a full disk, leaves the old file and nothing else. */
static void file_survives_a_failed_write(void **state)
{
    (void)state;
    lx_status st = {0};
    const char *path = in_folder("a.json");
    char *large = mem_zeroed(1, 200000);
    struct rlimit limit, small;
    assert_true(file_write(path, "precious", 8, &st));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 100000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool written = file_write(path, large, 200000, &st);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, handler);
    mem_free(large);
    assert_false(written);
    assert_int_equal(st.code, LX_E_IO);
    assert_string_equal(st.file, path);
    assert_holds(path, "precious");
    assert_int_equal(files_in_folder(false), 1);
}

/* The new file is locked when it takes its name, and can be appended to. */
static void file_is_replaced_and_locked(void **state)
{
    (void)state;
    lx_status st = {0};
    const char *path = in_folder("a.jsonl");
    assert_true(file_write(path, "old", 3, &st));
    int fd = file_replace_locked(path, "new", 3, &st), other = open(path, O_RDONLY);
    assert_true(fd >= 0 && other >= 0);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(write(fd, "er", 2), 2);
    assert_holds(path, "newer");
    close(fd);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
    assert_int_equal(file_replace_locked("/dev/null", "x", 1, &st), -1);
    assert_int_equal(file_replace_locked(in_folder("no/such/folder"), "x", 1, &st), -1);
    assert_int_equal(files_in_folder(false), 1);
}

static void file_refuses_what_cannot_be_written(void **state)
{
    (void)state;
    lx_status st = {0};
    assert_false(file_write(folder, "x", 1, &st));
    assert_int_equal(st.code, LX_E_IO);
    assert_non_null(strstr(st.text, "folder"));
    assert_false(file_write(in_folder("no/such/folder.json"), "x", 1, &st));
    assert_int_equal(st.code, LX_E_IO);
    assert_true(file_write(in_folder("plain"), "x", 1, &st));
    assert_false(file_write(in_folder("plain/child"), "x", 1, &st));
    assert_int_equal(files_in_folder(false), 1);
    if (geteuid() == 0) return; /* nothing is unwritable to root */
    assert_int_equal(chmod(folder, 0555), 0);
    assert_false(file_write(in_folder("plain"), "y", 1, &st));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_holds(in_folder("plain"), "x");
    assert_int_equal(files_in_folder(false), 1);
}

static void file_reading_is_bounded(void **state)
{
    (void)state;
    lx_status st = {0};
    size_t length;
    assert_null(file_read(in_folder("absent"), &length, &st));
    assert_int_equal(st.code, LX_E_IO);
    assert_null(file_read(folder, &length, &st));
    assert_non_null(strstr(st.text, "name a file"));
    const char *path = in_folder("huge");
    assert_true(file_write(path, "x", 1, &st));
    assert_int_equal(truncate(path, (off_t)FILE_MAX_BYTES + 1), 0);
    assert_null(file_read(path, &length, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
    assert_null(file_read("/dev/zero", &length, &st)); /* has no size and no end */
    assert_int_equal(st.code, LX_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_writes_and_keeps_the_mode, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(file_survives_a_failed_write, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(file_is_replaced_and_locked, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(file_refuses_what_cannot_be_written, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(file_reading_is_bounded, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
