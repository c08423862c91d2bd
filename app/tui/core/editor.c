/* The file of a pattern in the user's editor. The explorer watches the file and shows the new plan after
 * every change, by this editor or another program. The editor runs in the foreground with the terminal's
 * signals. */
#include "tui/draw/screen.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void edit_ask(struct explorer *x)
{
    struct session *s = &x->session;
    int pattern = x->view == VIEW_PATTERNS ? pattern_marked(x) : s->current;
    if (pattern < 0) {
        explorer_say(x, TONE_WARN, "there is no file to edit: open a pattern with %s", KEY_OF(OPEN));
        return;
    }
    const struct pattern *p = &s->patterns.at[pattern];
    int line = p->facts.refused ? p->facts.st.line : 0;
    if (pattern == s->current && s->has_shown && !session_plan(s)) /* the error */
        line = s->shown.st.line;
    else if (pattern == s->current) { /* the selection of the view: the op, or the buffer */
        const struct lx_plan *plan = session_plan(s);
        const struct lx_graph *g = s->has_shown ? outcome_graph(&s->shown) : NULL;
        int32_t i = s->selection.buffer, op = s->selection.op, tensor = outcome_tensor(&s->shown, i);
        int of_op = g && op >= 0 && op < g->op_count ? g->ops[op].line : 0, of_buffer = 0;
        if (plan && plan->graph->list && i >= 0 && i < plan->graph->list->buffer_count)
            of_buffer = plan->graph->list->buffers[i].line;
        else if (g && tensor >= 0 && tensor < g->tensor_count)
            of_buffer = g->tensors[tensor].line;
        bool buffers = x->view == VIEW_MAP || x->view == VIEW_BUFFERS || x->view == VIEW_COMPARE;
        line = buffers ? of_buffer : of_op;
        if (line <= 0) line = buffers ? of_op : of_buffer;
    }
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

void edit_now(struct explorer *x)
{
    struct session *s = &x->session;
    struct edit what = x->edit;
    x->edit.wanted = false;
    if (!what.wanted || what.pattern < 0 || (size_t)what.pattern >= s->patterns.count) return;
    const struct pattern *p = &s->patterns.at[what.pattern];
    explorer_watch(x); /* later changes are the editor's */
    screen_leave();
    /* A shell runs it, as the command may have arguments. */
    char *command = mem_format("%s +%d \"$1\"", edit_program(), what.line);
    int status = -1;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct sigaction old_int, old_quit, old_stop;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    sigaction(SIGTSTP, NULL, &old_stop); /* Ctrl-Z in the editor stops both */
    if (old_stop.sa_handler != SIG_IGN) sigaction(SIGTSTP, &usual, NULL);
    pid_t child = fork();
    if (child == 0) {
        sigaction(SIGINT, &usual, NULL);
        sigaction(SIGQUIT, &usual, NULL);
        execl("/bin/sh", "sh", "-c", command, "sh", p->path, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    sigaction(SIGTSTP, &old_stop, NULL);
    mem_free(command);
    int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    screen_return();
    x->redraw_all = true;
    if (code != 0)
        explorer_say(x, TONE_BAD, "%s ended with %d; $VISUAL or $EDITOR names another editor", edit_program(),
                     code);
    else if (what.pattern != s->current)
        session_reload(s, what.pattern);
    else
        explorer_say(x, TONE_DIM, "back from %s", edit_program());
    explorer_watch(x);
}

void explorer_watch(struct explorer *x)
{
    struct session *s = &x->session;
    struct stat info;
    if (s->current < 0 || stat(s->patterns.at[s->current].path, &info) != 0) return;
    struct stamp now = {s->current, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino};
    struct stamp was = x->stamp;
    x->stamp = now;
    if (was.pattern != now.pattern || !was.file) return;
    if (was.seconds == now.seconds && was.nanoseconds == now.nanoseconds && was.bytes == now.bytes &&
        was.file == now.file)
        return;
    session_reload(s, s->current);
    s->reread = s->wanted;
    explorer_say(x, TONE_GOOD, "%s has changed: reloaded", s->patterns.at[s->current].shown);
}
