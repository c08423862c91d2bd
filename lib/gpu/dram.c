/* Bytes of DRAM, which no program can count itself: NVIDIA's ncu runs this program once more and counts. */
#include "base/file.h"
#include "gpu/machines.h"

#include <unistd.h>

#define DRAM_READ    "dram__bytes_read.sum"
#define DRAM_WRITTEN "dram__bytes_write.sum"

/* The number of a metric in what ncu says, "...","METRIC","byte","1,234"; -1: it is not there. */
static int64_t dram_number(const char *said, const char *metric)
{
    const char *at = strstr(said, metric);
    int64_t number = -1;
    for (int fields = 0; at && fields < 2; fields++) at = strstr(at + 1, "\",\"");
    if (!at) return -1;
    for (at += 3; *at && *at != '"' && *at != '.'; at++)
        if (*at >= '0' && *at <= '9') number = max_i64(number, 0) * 10 + (*at - '0');
    return number;
}

bool dram_read_said(const char *said, struct lx_measured *out, lx_status *st)
{
    int64_t read = dram_number(said, DRAM_READ), written = dram_number(said, DRAM_WRITTEN);
    const char *why = strstr(said, "ERR_");
    if (read < 0 || written < 0)
        return status_set(st, LX_E_UNSUPPORTED, "ncu counts no bytes of DRAM here%s%.*s", why ? ": " : "",
                          why ? (int)strcspn(why, " \n") : 0, why ? why : "");
    out->dram_read = read;
    out->dram_written = written;
    return true;
}

bool lx_program_dram(const struct lx_plan *p, const char *program, struct lx_measured *measured,
                     lx_status *st)
{
    char folder[] = "/tmp/lxplan-XXXXXX", plan[64], said[64], own[400];
    size_t length;
    if (!mkdtemp(folder)) return status_set(st, LX_E_IO, "no folder for a plan");
    snprintf(plan, sizeof plan, "%s/plan.json", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    snprintf(own, sizeof own, "%s", program);
    char *text = lx_plan_to_json(p, &length);
    bool ok = file_write(plan, text, length, st);
    mem_free(text);
    /* The second launch is the program without traces. */
    char *words[] = {"ncu",
                     "--csv",
                     "--print-units",
                     "base",
                     "--metrics",
                     DRAM_READ "," DRAM_WRITTEN,
                     "--launch-skip",
                     "1",
                     "--launch-count",
                     "1",
                     own,
                     "run",
                     plan,
                     "--on",
                     "gpu",
                     "--verify",
                     "none",
                     "--launches",
                     "0",
                     "-q",
                     NULL};
    if (ok && process_run(words, said) < 0)
        ok = status_set(st, LX_E_UNSUPPORTED, "there is no ncu (Nsight Compute) here, which counts DRAM");
    text = ok ? file_read(said, &length, st) : NULL;
    ok = text && dram_read_said(text, measured, st);
    mem_free(text);
    unlink(plan);
    unlink(said);
    rmdir(folder);
    return ok;
}
