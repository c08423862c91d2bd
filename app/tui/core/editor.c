/* The file of a pattern in the person's own editor, and an eye on it: whoever changes it, here or elsewhere, sees the plan of
 * what it has become. The editor runs in the foreground, on a terminal that has been given back to it; what it gets of
 * signals is its own. */
#include "tui/draw/screen.h"
#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the pattern declares a buffer; 0: nowhere. */
static int line_of_buffer(const struct session *s, int32_t buffer)
{
    const struct lx_plan *p = session_plan(s);
    const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
    if (!p || buffer < 0 || buffer >= p->problem.count) return 0;
    if (p->graph->is_list) return buffer < p->graph->buffer_count ? p->graph->buffers[buffer].line : 0;
    int32_t tensor = outcome_tensor(&s->shown, buffer);
    return g && tensor >= 0 && tensor < g->tensor_count ? g->tensors[tensor].line : 0;
}

static int line_of_op(const struct session *s)
{
    const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
    int32_t op = s->selection.op;
    return g && op >= 0 && op < g->op_count ? g->ops[op].line : 0;
}

static bool shows_buffers(enum view_id view)
{
    return view == VIEW_MAP || view == VIEW_BUFFERS || view == VIEW_COMPARE;
}

/* The error's line where there is no plan; else that of what the view has selected, or of what goes with it. */
static int line_of_selection(const struct explorer *x)
{
    const struct session *s = &x->session;
    if (s->has_shown && !session_plan(s)) return s->shown.st.line;
    int buffer = line_of_buffer(s, s->selection.buffer), op = line_of_op(s);
    int first = shows_buffers(x->view) ? buffer : op, other = shows_buffers(x->view) ? op : buffer;
    return first > 0 ? first : other;
}

void edit_ask(struct explorer *x)
{
    struct session *s = &x->session;
    int pattern = x->view == VIEW_PATTERNS ? pattern_marked(x) : s->current;
    if (pattern < 0) {
        explorer_say(x, TONE_WARN, "there is no file to edit: open a pattern with %s", KEY_OF(OPEN));
        return;
    }
    const struct pattern *p = &s->patterns.at[pattern];
    int line = pattern == s->current ? line_of_selection(x) : p->facts.refused ? p->facts.st.line : 0;
    x->edit = (struct edit){true, pattern, line > 0 ? line : 1};
    explorer_say(x, TONE_PLAIN, "%s +%d %s: an editor needs a terminal", edit_program(), x->edit.line,
                 p->shown);
}

const char *edit_program(void)
{
    static const char *const names[] = {"VISUAL", "EDITOR"};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return value;
    }
    return "vi";
}

/* By the shell, as an editor may have arguments of its own. Returns the exit code, or -1. */
static int run_editor(const char *path, int line)
{
    char *command = mem_format("%s +%d \"$1\"", edit_program(), line);
    int status = -1;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct sigaction old_int, old_quit, old_stop;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    sigaction(SIGTSTP, NULL, &old_stop); /* Ctrl-Z in the editor stops both, where it stops anything */
    if (old_stop.sa_handler != SIG_IGN) sigaction(SIGTSTP, &usual, NULL);
    pid_t child = fork();
    if (child == 0) {
        sigaction(SIGINT, &usual, NULL);
        sigaction(SIGQUIT, &usual, NULL);
        execl("/bin/sh", "sh", "-c", command, "sh", path, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    sigaction(SIGTSTP, &old_stop, NULL);
    mem_free(command);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void edit_now(struct explorer *x)
{
    struct session *s = &x->session;
    struct edit what = x->edit;
    x->edit.wanted = false;
    if (!what.wanted || what.pattern < 0 || (size_t)what.pattern >= s->patterns.count) return;
    const struct pattern *p = &s->patterns.at[what.pattern];
    explorer_watch(x); /* what changes from now on is the editor's doing */
    screen_leave();
    int code = run_editor(p->path, what.line);
    screen_return();
    x->redraw_all = true;
    if (code != 0)
        explorer_say(x, TONE_BAD, "%s ended with %d; $VISUAL or $EDITOR names another editor", edit_program(),
                     code);
    else if (what.pattern != s->current)
        session_read_again(s, what.pattern);
    else
        explorer_say(x, TONE_DIM, "back from %s", edit_program());
    explorer_watch(x);
}

/* What of a file tells that it has changed. */
static bool stamp_of(const char *path, struct stamp *out)
{
    struct stat info;
    if (stat(path, &info) != 0) return false;
    out->seconds = info.st_mtim.tv_sec;
    out->nanoseconds = info.st_mtim.tv_nsec;
    out->bytes = info.st_size;
    out->file = info.st_ino;
    return true;
}

void explorer_watch(struct explorer *x)
{
    struct session *s = &x->session;
    struct stamp now = {.pattern = s->current};
    if (s->current < 0 || !stamp_of(s->patterns.at[s->current].path, &now))
        return; /* gone: what is shown stays */
    struct stamp was = x->stamp;
    x->stamp = now;
    if (was.pattern != now.pattern || !was.file) return;
    if (was.seconds == now.seconds && was.nanoseconds == now.nanoseconds && was.bytes == now.bytes &&
        was.file == now.file)
        return;
    session_reload(s);
    s->reread = s->wanted;
    explorer_say(x, TONE_GOOD, "%s has changed: read again", s->patterns.at[s->current].shown);
}
