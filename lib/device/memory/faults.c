/* Faults in words: who wanted what where, and what was there. */
#include "device/memory/machine.h"
#include "base/words.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

LX_WORDS(lx_fault_word, enum lx_fault_kind, LX_FAULTS)

LX_HELPS(lx_fault_help, enum lx_fault_kind, LX_FAULTS)

static const char *tensor_name(const struct machine *m, int32_t t)
{
    return t >= 0 && t < m->graph->tensor_count ? m->graph->tensors[t].name : "nobody";
}

static void add_where(const struct machine *m, const struct lx_fault *f, struct text *t)
{
    if (f->tick < m->graph->op_count)
        text_format(t, "op %s (tick %d", m->graph->ops[f->tick].name, (int)f->tick);
    else
        text_add(t, "after the last op");
    if (f->tick < m->graph->op_count && f->iteration >= 0)
        text_format(t, ", iteration %lld of %lld", (long long)f->iteration + 1,
                    (long long)nest_iterations(m->at.nest));
    if (f->tick < m->graph->op_count) text_add(t, ")");
    if (f->core >= 0) text_format(t, ", core %d", (int)f->core);
    if (f->stay >= 0)
        text_format(t, ", buffer %s",
                    f->stay >= 0 && f->stay < m->plan->problem.count ? m->plan->problem.buffers[f->stay].name
                                                                     : "nobody");
    else if (f->tensor >= 0)
        text_format(t, ", tensor %s in HBM", tensor_name(m, f->tensor));
    if (f->address >= 0)
        text_format(t, ", %s 0x%llx", f->core >= 0 ? "LX" : "HBM", (unsigned long long)f->address);
}

static void faults_keep(struct machine *m, struct lx_fault *f, const char *what)
{
    struct text t = {0};
    f->iteration = m->at.nest ? m->at.number : -1;
    m->fault_count++;
    if (m->faults.count >= LX_MAX_FAULTS) return;
    add_where(m, f, &t);
    text_format(&t, ": %s", what);
    if (f->sticks > 1) text_format(&t, " (%lld sticks)", (long long)f->sticks);
    f->text = arena_string(m->memory, t.at);
    text_free(&t);
    VEC_PUSH(&m->faults, *f);
}

void machine_fail(struct machine *m, const lx_status *why)
{
    if (!__atomic_exchange_n(&m->failed, true, __ATOMIC_ACQ_REL)) m->failure = *why;
}

void fault_add(struct machine *m, const struct lx_fault *f)
{
    struct lx_fault copy = *f;
    char what[400];
    const char *owner = tensor_name(m, f->owner);
    switch (f->kind) {
    case LX_FAULT_UNWRITTEN:
        snprintf(what, sizeof what, "reads bytes that nobody has written");
        break;
    case LX_FAULT_WIPED:
        snprintf(what, sizeof what, "reads bytes that were wiped, by an extern op or between bundles");
        break;
    case LX_FAULT_OVERWRITTEN:
        snprintf(what, sizeof what, "reads bytes that belong to %.250s", owner);
        break;
    case LX_FAULT_STALE:
        snprintf(what, sizeof what, "reads another value of %.250s than the program means", owner);
        break;
    case LX_FAULT_MISPLACED:
        snprintf(what, sizeof what, "reads another part of %.250s than the one it wants", owner);
        break;
    case LX_FAULT_INCOMPLETE:
        snprintf(what, sizeof what, "reads a sum of %.250s that has not all its tiles, or others", owner);
        break;
    case LX_FAULT_LIVE:
        snprintf(what, sizeof what, "overwrites %.250s, which is live", owner);
        break;
    default:
        snprintf(what, sizeof what, "%s", lx_fault_help(f->kind));
    }
    faults_keep(m, &copy, what);
}

void fault_plain(struct machine *m, enum lx_fault_kind kind, const struct place *p, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct lx_fault f = {.kind = kind,
                         .tick = m->tick,
                         .core = p && p->stay >= 0 ? (int32_t)p->core : -1,
                         .tensor = p ? p->tensor : -1,
                         .stay = p ? p->stay : -1,
                         .owner = -1,
                         .address = -1};
    faults_keep(m, &f, what);
}
