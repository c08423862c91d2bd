/* bench and report, driven from outside as people drive them, and with solvers that misbehave.
 *
 * LXPLAN_ROGUE is the program with the solvers of tests/rogue. Each test works in a folder of its own. */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "bench/statistics.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST_WORDS = 40 };

static char folder[] = "/tmp/lxplan_test_bench_XXXXXX", kept[sizeof folder];

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void write_file(const char *name, const char *text)
{
    lx_status st;
    assert_true(file_write(name, text, strlen(text), &st));
}

static char *read_file(const char *name)
{
    lx_status st;
    size_t length;
    char *text = file_read(name, &length, &st);
    assert_non_null(text);
    return text;
}

static int enter_folder(void **state)
{
    (void)state;
    memcpy(kept, folder, sizeof folder);
    if (!mkdtemp(kept) || chdir(kept) != 0 || mkdir("set", 0777) != 0) return -1;
    write_file("set/a.100.csv", "id,lower,upper,size\na,0,4,60\nb,1,3,50\nc,2,6,40\nd,5,9,70\ne,3,8,30\n");
    write_file("set/b.64.csv", "id,lower,upper,size\nx,0,4,32\ny,1,3,16\nz,2,6,48\nv,0,9,8\n");
    write_file("set/README.md", "not an instance\n");
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && nftw(kept, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : -1;
}

/* Starts the program with the words of a command line; output and errors go to out.txt and err.txt. */
static pid_t start(const char *program, const char *line)
{
    pid_t pid = fork();
    if (pid != 0) return pid;
    char *copy = mem_string(line), *rest = copy, *words[MOST_WORDS] = {(char *)(uintptr_t)program};
    for (int n = 1; rest && n < MOST_WORDS - 1; n++) words[n] = strsep(&rest, " ");
    int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666),
        err = open("err.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(program, words);
    _exit(126);
}

static int finish(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int rogue(const char *line)
{
    return finish(start(LXPLAN_ROGUE, line));
}

static void assert_says(const char *name, const char *words)
{
    char *text = read_file(name);
    if (!strstr(text, words)) fail_msg("%s does not say \"%s\" but:\n%s", name, words, text);
    mem_free(text);
}

/* The rows of a results file; complete lines only. */
static cJSON *rows_of(const char *name)
{
    char *text = read_file(name), *rest = text;
    cJSON *all = cJSON_CreateArray();
    bool header = true;
    for (char *line; (line = strsep(&rest, "\n")) && rest; header = false) {
        cJSON *row = cJSON_Parse(line);
        assert_non_null(row);
        if (header) {
            assert_string_equal(cJSON_GetObjectItem(row, "kind")->valuestring, "results");
            cJSON_Delete(row);
        } else
            cJSON_AddItemToArray(all, row);
    }
    mem_free(text);
    return all;
}

static const char *word_of(const cJSON *row, const char *key)
{
    const cJSON *v = cJSON_GetObjectItem(row, key);
    return cJSON_IsString(v) ? v->valuestring : "";
}

static const cJSON *row_of(const cJSON *rows, const char *instance, const char *solver)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows) if (strcmp(word_of(row, "solver"), solver) == 0 &&
                                      strstr(word_of(row, "instance"), instance)) return row;
    fail_msg("no row of %s on %s", solver, instance);
    return NULL;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What does not depend on the clock, one line per row, sorted: key, outcome, value, steps. */
static char *essence_of(const char *name)
{
    cJSON *rows = rows_of(name), *row;
    VEC(char *) lines = {0};
    struct text all = {0};
    cJSON_ArrayForEach(row, rows)
    {
        char *line = NULL;
        const cJSON *value = cJSON_GetObjectItem(row, "value");
        assert_true(asprintf(&line, "%s %s %s seed %g repeat %g %s %s value %.0f steps %.0f\n",
                             word_of(row, "instance"), word_of(row, "hash"), word_of(row, "solver"),
                             cJSON_GetObjectItem(row, "seed")->valuedouble,
                             cJSON_GetObjectItem(row, "repeat")->valuedouble, word_of(row, "config"),
                             word_of(row, "outcome"), cJSON_IsNumber(value) ? value->valuedouble : -1,
                             cJSON_GetObjectItem(row, "steps")->valuedouble) > 0);
        assert_true(VEC_PUSH(&lines, line));
    }
    if (lines.count) qsort(lines.at, lines.count, sizeof *lines.at, compare_words);
    for (size_t i = 0; i < lines.count; i++) {
        if (i > 0) assert_string_not_equal(lines.at[i - 1], lines.at[i]);
        text_add(&all, lines.at[i]);
    }
    for (size_t i = 0; i < lines.count; i++) free(lines.at[i]);
    VEC_FREE(&lines);
    cJSON_Delete(rows);
    return all.at ? all.at : mem_string("");
}

static void assert_same_essence(const char *a, const char *b)
{
    char *x = essence_of(a), *y = essence_of(b);
    assert_string_equal(x, y);
    mem_free(x);
    mem_free(y);
}

static void test_rogues_are_named_and_harm_no_one(void **state)
{
    static const char *const expected[][2] = {
        {"greedy", "feasible"},    {"rogue_crash", "crash"},   {"rogue_exit", "crash"},
        {"rogue_hang", "timeout"}, {"rogue_memory", "memory"}, {"rogue_glutton", "memory"},
        {"rogue_liar", "wrong"},   {"rogue_denier", "wrong"},  {"rogue_noise", "crash"},
        {"rogue_late", "timeout"}, {"rogue_wait", "feasible"}, {"rogue_deaf", "timeout"},
    };
    (void)state;
    assert_int_equal(rogue("bench set/a.100.csv --time 1 --memory 64 -o all.jsonl"), 1);
    cJSON *rows = rows_of("all.jsonl");
    assert_int_equal(cJSON_GetArraySize(rows), 15);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(word_of(row_of(rows, "a.100", expected[i][0]), "outcome"), expected[i][1]);
    assert_non_null(strstr(word_of(row_of(rows, "a.100", "rogue_crash"), "message"), "SIGSEGV"));
    assert_non_null(
        strstr(word_of(row_of(rows, "a.100", "rogue_liar"), "message"), "refused by the checker"));
    /* A boast is found out only beside a better answer: optimal in its row, wrong in the report. */
    assert_string_equal(word_of(row_of(rows, "a.100", "rogue_boast"), "outcome"), "optimal");
    assert_int_equal(rogue("report all.jsonl --json"), 0);
    assert_says("out.txt", "claims the bound 250, but ");
    /* The honest ones answer as they do alone. */
    assert_int_equal(rogue("bench set/a.100.csv -s greedy,bestfit --time 1 --memory 64 -o alone.jsonl -q"),
                     0);
    cJSON *alone = rows_of("alone.jsonl");
    static const char *const honest[] = {"greedy", "bestfit"};
    for (size_t i = 0; i < 2; i++)
        assert_true(cJSON_GetObjectItem(row_of(rows, "a.100", honest[i]), "value")->valuedouble ==
                    cJSON_GetObjectItem(row_of(alone, "a.100", honest[i]), "value")->valuedouble);
    cJSON_Delete(rows);
    cJSON_Delete(alone);
}

static void test_false_proof_that_nothing_fits(void **state)
{
    (void)state;
    assert_int_equal(
        rogue("bench set/a.100.csv --objective fit --lx 300 -s bestfit,rogue_denier -o fit.jsonl"), 1);
    assert_says("out.txt", "claims that nothing fits, but bestfit");
    cJSON *rows = rows_of("fit.jsonl");
    assert_string_equal(word_of(row_of(rows, "a.100", "bestfit"), "outcome"), "optimal");
    assert_string_equal(word_of(row_of(rows, "a.100", "rogue_denier"), "outcome"), "infeasible");
    cJSON_Delete(rows);
}

#define SMALL_SET "bench set -s greedy,bestfit,rogue_dice --seeds 4 --repeat 2 --time 5"

static void wait_a_moment(long milliseconds)
{
    struct timespec moment = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

static void test_kill_and_resume(void **state)
{
    (void)state;
    assert_int_equal(rogue(SMALL_SET " -o whole.jsonl"), 0);
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    int kills = 0, code = 1;
    for (int tries = 0; tries < 400 && code != 0; tries++) {
        pid_t pid = start(LXPLAN_ROGUE, SMALL_SET " -o killed.jsonl --resume");
        wait_a_moment(rand_r(&seed) % (40 + 4 * tries));
        kill(pid, SIGKILL);
        code = finish(pid);
        kills += code == 1000 + SIGKILL;
        assert_true(code == 0 || code == 1000 + SIGKILL);
    }
    if (code != 0) assert_int_equal(rogue(SMALL_SET " -o killed.jsonl --resume"), 0);
    print_message("killed %d times\n", kills);
    assert_same_essence("whole.jsonl", "killed.jsonl");
}

static void test_torn_line_at_any_byte(void **state)
{
    (void)state;
    assert_int_equal(rogue(SMALL_SET " -o whole.jsonl"), 0);
    char *text = read_file("whole.jsonl");
    size_t length = strlen(text), header = strcspn(text, "\n") + 1;
    for (size_t cut = header; cut < length; cut += 1 + (length - header) / 9) {
        char saved = text[cut];
        text[cut] = 0;
        write_file("torn.jsonl", text);
        text[cut] = saved;
        assert_int_equal(rogue(SMALL_SET " -o torn.jsonl --resume -q"), 0);
        assert_same_essence("whole.jsonl", "torn.jsonl");
    }
    mem_free(text);
}

static void test_refuses_to_mix_or_overwrite(void **state)
{
    (void)state;
    assert_int_equal(rogue("bench set -s greedy,rogue_dice --time 5 -o r.jsonl"), 0);
    char *before = read_file("r.jsonl");
    static const char *const lines[][2] = {
        {"bench set -s greedy,rogue_dice --time 5 -o r.jsonl", "exists already"},
        {"bench set -s greedy,rogue_dice --time 6 -o r.jsonl --resume",
         "limits.time_seconds was 5 and is now 6"},
        {"bench set -s greedy,rogue_dice --time 5 --seeds 2 -o r.jsonl --resume", "seeds was 1 and is now 2"},
        {"bench set -s greedy --time 5 -o r.jsonl --resume", "solvers"},
        {"bench set/a.100.csv -s greedy,rogue_dice --time 5 -o r.jsonl --resume", "instances"},
        {"bench set -s greedy,rogue_dice --time 5 --lx 50% -o r.jsonl --resume", "lx"},
        {"bench set -s nobody", "there is no solver"},
        {"bench set -O x=1", "of which solver"},
        {"bench set --resume", "-o RESULTS"},
        {"bench nowhere", "no such file"},
        {"bench set/README.md", "no instances"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(rogue(lines[i][0]), 2);
        assert_says("err.txt", lines[i][1]);
    }
    char *after = read_file("r.jsonl");
    assert_string_equal(before, after);
    mem_free(before);
    mem_free(after);
    assert_int_equal(rogue("bench set -s greedy --time 6 -o r.jsonl --force -q"), 0);
}

static void test_bad_inputs_do_not_stop_the_run(void **state)
{
    (void)state;
    write_file("set/broken.10.csv", "id,lower,upper,size\na,5,2,60\n");
    write_file("set/broken.json", "{\"lxplan\": 1, ");
    write_file("set/foreign.json", "{\"instances\": []}");
    write_file("set/table.csv", "B,M,N,K\n1,2,3,4\n");
    assert_int_equal(rogue("bench set -s greedy,bestfit -o bad.jsonl"), 1);
    assert_says("err.txt", "foreign.json: skipped");
    assert_says("err.txt", "table.csv: skipped");
    cJSON *rows = rows_of("bad.jsonl");
    assert_int_equal(cJSON_GetArraySize(rows), 2 + 2 * 2);
    assert_string_equal(word_of(row_of(rows, "broken.10.csv", ""), "outcome"), "bad_input");
    assert_string_equal(word_of(row_of(rows, "broken.json", ""), "outcome"), "bad_input");
    assert_string_equal(word_of(row_of(rows, "a.100.csv", "bestfit"), "outcome"), "feasible");
    cJSON_Delete(rows);
    assert_int_equal(rogue("bench set -s greedy,bestfit -o bad.jsonl --resume"), 1);
    rows = rows_of("bad.jsonl");
    assert_int_equal(cJSON_GetArraySize(rows), 6);
    cJSON_Delete(rows);
}

static bool has_lines(const char *name, int count)
{
    lx_status st;
    size_t length;
    char *text = file_read(name, &length, &st);
    for (char *at = text; at && (at = strchr(at, '\n')); at++) count--;
    mem_free(text);
    return text && count <= 0;
}

static void test_interrupt_keeps_what_is_done(void **state)
{
    (void)state;
    pid_t pid = start(LXPLAN_ROGUE, "bench set -s greedy,rogue_hang --time 60 -o half.jsonl");
    for (int i = 0; i < 1000 && !has_lines("half.jsonl", 2); i++) wait_a_moment(10);
    wait_a_moment(50); /* into the run that hangs */
    kill(pid, SIGINT);
    assert_int_equal(finish(pid), 130);
    assert_says("err.txt", "1 of 4 runs are done");
    assert_says("out.txt", "greedy");
    cJSON *rows = rows_of("half.jsonl");
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    cJSON_Delete(rows);
}

static void test_order_is_interleaved_and_jobs_agree(void **state)
{
    (void)state;
    assert_int_equal(rogue(SMALL_SET " -o one.jsonl --warmup 2"), 0);
    assert_int_equal(rogue(SMALL_SET " -o two.jsonl -j 3"), 0);
    assert_says("err.txt", "disturb each other's times");
    assert_same_essence("one.jsonl", "two.jsonl");
    cJSON *rows = rows_of("one.jsonl");
    assert_int_equal(cJSON_GetArraySize(rows), 2 * 2 * (1 + 1 + 4));
    /* The first instance begins with the first solver, the second with the second. */
    assert_string_equal(word_of(cJSON_GetArrayItem(rows, 0), "solver"), "greedy");
    assert_string_equal(word_of(cJSON_GetArrayItem(rows, 3), "solver"), "bestfit");
    cJSON_Delete(rows);
}

static void test_report_formats(void **state)
{
    (void)state;
    assert_int_equal(rogue(SMALL_SET " -o r.jsonl -q"), 0);
    char *empty = read_file("out.txt");
    assert_string_equal(empty, "");
    mem_free(empty);
    assert_int_equal(rogue("report r.jsonl --format md"), 0);
    assert_says("out.txt", "| solver |");
    assert_int_equal(rogue("report r.jsonl --format csv --by instance"), 0);
    assert_says("out.txt", "instance,name,path,hash,");
    assert_int_equal(rogue("report r.jsonl --plot --svg plot.svg"), 0);
    assert_says("out.txt", "Performance profile");
    assert_says("out.txt", "Cactus plot");
    assert_says("plot.svg", "</svg>");
    assert_says("plot.svg", "time, each"); /* whose marks have units: picture/ticks.h */
    assert_int_equal(rogue("report r.jsonl --html"), 0);
    assert_says("out.txt", "<!DOCTYPE html>");
    assert_int_equal(rogue("report r.jsonl --format json -o r.json"), 0);
    char *text = read_file("r.json");
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "solvers")), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "instances")), 6);
    cJSON_Delete(json);
    mem_free(text);
    assert_int_equal(rogue("report r.jsonl --format xml"), 2);
    assert_int_equal(rogue("report set/README.md"), 2);
    assert_int_equal(rogue("report set/a.100.csv"), 2);
}

static void test_malformed_lines_are_passed_over(void **state)
{
    (void)state;
    assert_int_equal(rogue("bench set -s greedy -o r.jsonl -q"), 0);
    char *text = read_file("r.jsonl");
    struct text worse = {0};
    text_format(&worse, "%s{\"instance\": \"x\"}\nnonsense\n{\"torn", text);
    write_file("worse.jsonl", worse.at);
    assert_int_equal(rogue("report worse.jsonl"), 0);
    assert_says("err.txt", "worse.jsonl:4: ");
    assert_says("err.txt", "worse.jsonl:5: ");
    assert_says("err.txt", "worse.jsonl:6: ");
    assert_says("out.txt", "greedy");
    text_free(&worse);
    mem_free(text);
}

/* The rows again with other times and values: what a slower, worse program would have written. */
static void spoil(const char *from, const char *to)
{
    char *text = read_file(from), *rest = text;
    struct text out = {0};
    for (char *line; (line = strsep(&rest, "\n")) && rest;) {
        cJSON *row = cJSON_Parse(line);
        cJSON *seconds = cJSON_GetObjectItem(row, "solver_seconds"),
              *value = cJSON_GetObjectItem(row, "value");
        if (seconds) cJSON_SetNumberHelper(seconds, seconds->valuedouble * 3);
        if (cJSON_IsNumber(value)) cJSON_SetNumberHelper(value, value->valuedouble + 1000);
        char *again = cJSON_PrintUnformatted(row);
        text_format(&out, "%s\n", again);
        cJSON_free(again);
        cJSON_Delete(row);
    }
    write_file(to, out.at);
    text_free(&out);
    mem_free(text);
}

static void test_compare_two_files(void **state)
{
    (void)state;
    assert_int_equal(rogue("bench set -s bestfit,rogue_dice --repeat 5 --seeds 1 -o r.jsonl -q"), 0);
    assert_int_equal(rogue("report r.jsonl r.jsonl --format csv"), 0);
    char *text = read_file("out.txt");
    assert_null(strstr(text, "faster"));
    assert_null(strstr(text, "slower"));
    assert_null(strstr(text, "worse"));
    mem_free(text);
    spoil("r.jsonl", "spoilt.jsonl");
    assert_int_equal(rogue("report r.jsonl spoilt.jsonl"), 0);
    assert_says("out.txt", "slower");
    assert_says("out.txt", "worse");
    assert_int_equal(rogue("report spoilt.jsonl r.jsonl --format json"), 0);
    assert_says("out.txt", "\"faster\"");
    assert_says("out.txt", "\"better\"");
}

/* The first line is the verdict; instances of one name are told apart in text and csv. */
static void test_verdict_comes_first(void **state)
{
    (void)state;
    assert_int_equal(mkdir("other", 0777), 0);
    write_file("other/a.100.csv", "id,lower,upper,size\na,0,4,60\nb,1,3,50\n");
    assert_int_equal(rogue("bench set other -s greedy,bestfit -o r.jsonl"), 0);
    char *text = read_file("out.txt");
    size_t line = strcspn(text, "\n");
    assert_non_null(memmem(text, line, " best on 2 of 3", 15));
    mem_free(text);
    assert_says("out.txt", "  set/a.100.csv ");
    assert_says("out.txt", "  other/a.100.csv ");
    assert_says("out.txt", "  b.64 ");
    assert_int_equal(rogue("report r.jsonl --format csv --by instance"), 0);
    assert_says("out.txt", "\nset/a.100.csv,a.100,set/a.100.csv,");
}

/* Two files of which the second is slower and worse: --fail-on is for machines. */
static void test_fail_on(void **state)
{
    (void)state;
    assert_int_equal(rogue("bench set -s bestfit,rogue_dice --repeat 5 --seeds 1 -o r.jsonl -q"), 0);
    spoil("r.jsonl", "spoilt.jsonl");
    assert_int_equal(rogue("report r.jsonl spoilt.jsonl --fail-on worse"), 1);
    assert_says("err.txt", "failed on worse: ");
    assert_says("out.txt", " pairs changed: ");
    assert_int_equal(rogue("report r.jsonl r.jsonl --fail-on worse,slower,missing"), 0);
    assert_says("out.txt", "nothing changed: ");
    assert_int_equal(rogue("bench set -s bestfit -o less.jsonl -q"), 0);
    assert_int_equal(rogue("report r.jsonl less.jsonl --fail-on missing"), 1);
    assert_int_equal(rogue("bench set --lx 50% -s bestfit -o half.jsonl -q"), 0);
    assert_int_equal(rogue("report less.jsonl half.jsonl"), 2);
    assert_says("err.txt", "nothing to compare: all instances differ in lx (own, 50%)");
}

static void test_statistics(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    assert_true(median_of(odd, 3) == 2 && median_of(even, 4) == 2.5);
    assert_true(isnan(median_of(odd, 0)));
    double never[] = {1, INFINITY, INFINITY};
    assert_true(isinf(median_of(never, 3)));
    /* From the tables of the exact distribution: 2 of C(8,4) and of C(10,5) ways. */
    assert_true(fabs(mann_whitney_p(low, 4, high, 4) - 2.0 / 70) < 1e-12);
    assert_true(fabs(mann_whitney_p(high, 5, low, 5) - 2.0 / 252) < 1e-12);
    double mixed[] = {1.5, 3.5, 5.5, 7.5, 9.5};
    assert_true(mann_whitney_p(low, 5, mixed, 5) > 0.1);
    double same[] = {2, 2, 2, 2};
    assert_true(mann_whitney_p(same, 4, same, 4) == 1);
    assert_true(fabs(shifted_geometric_mean((double[]){0, 3}, 2, 1) - 1) < 1e-12);
    assert_true(fabs(sign_test_p(0, 5) - 0.0625) < 1e-12);
    assert_true(sign_test_p(0, 0) == 1 && sign_test_p(4, 4) == 1);
    struct ratio twice = ratio_of((double[]){log(2), log(2), log(2)}, 3), one = ratio_of((double[]){0}, 1);
    assert_true(fabs(twice.times - 2) < 1e-12 && twice.spread < 1e-12 && twice.count == 3);
    assert_true(one.times == 1 && isnan(one.spread) && isnan(ratio_of(NULL, 0).times));
    assert_true(fabs(standard_deviation_of((double[]){1, 2, 3, 4}, 4) - sqrt(5.0 / 3)) < 1e-12);
    assert_true(fabs(deviation_of((double[]){1, 2, 3, 4, 100}, 5) - 1.4826) < 1e-12);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),
        IN_FOLDER(test_rogues_are_named_and_harm_no_one),
        IN_FOLDER(test_false_proof_that_nothing_fits),
        IN_FOLDER(test_kill_and_resume),
        IN_FOLDER(test_torn_line_at_any_byte),
        IN_FOLDER(test_refuses_to_mix_or_overwrite),
        IN_FOLDER(test_bad_inputs_do_not_stop_the_run),
        IN_FOLDER(test_interrupt_keeps_what_is_done),
        IN_FOLDER(test_order_is_interleaved_and_jobs_agree),
        IN_FOLDER(test_report_formats),
        IN_FOLDER(test_malformed_lines_are_passed_over),
        IN_FOLDER(test_compare_two_files),
        IN_FOLDER(test_verdict_comes_first),
        IN_FOLDER(test_fail_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
