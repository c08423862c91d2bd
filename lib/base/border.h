/* A point to which a thread unwinds when memory is out.
 *
 *     struct border border;
 *     if (border_begin(&border) == 0) {
 *         result = work();
 *         border_end(&border);
 *     } else {
 *         status_no_memory(st);
 *     }
 *
 * When memory is out inside, deferred functions run, the newest first; every block is freed that the
 * thread has allocated inside and not freed since; references to shared things (base/users.h) that were
 * taken inside are given back; and border_begin returns 1. Variables of the function that change inside
 * and are read behind it are volatile. Blocks that are alive at border_end belong to the border around it;
 * at the outermost border to the caller.
 *
 * Borders stand at each function of lxplan.h, in main(), at the start of each thread and job, and where
 * foreign code calls us. A thread without a border that runs out of memory aborts the process. */
#pragma once

#include "base/memory.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

/* Thread-local state that exists from the thread's start: with other models the loader allocates on first
 * use, and aborts if it cannot. */
#define THREAD_STATE static _Thread_local __attribute__((tls_model("initial-exec")))

struct mem_list;

struct mem_block {
    struct mem_block *next, *before;
    struct mem_list *owner;        /* atomic; NULL: in no border */
    uint64_t size : 56, shift : 8; /* the system's block begins 1 << shift bytes before ours */
};

struct border {
    jmp_buf jump;
    struct border *outer;
    struct deferred *deferred; /* as outside */
    struct mem_block mark;     /* newer blocks stand before it, older ones behind */
    uint64_t number;
    bool keeps;
};

/* 0: go on; 1: memory was out, and the border has ended. */
#define border_begin(border) (border_enter((border), false) ? setjmp((border)->jump) : 1)
/* For functions that change a thing from outside the border: their blocks belong to the thing and are not
 * freed when memory is out. They allocate temporary blocks in an inner border. */
#define border_begin_keeping(border) (border_enter((border), true) ? setjmp((border)->jump) : 1)
bool border_enter(struct border *border, bool keeps);
void border_end(struct border *border);
/* border_end for results that another thread gets: living blocks do not move to the enclosing border. */
void border_end_released(struct border *border);

/* A release of something that is not memory:
 *
 *     struct deferred closing;
 *     defer(&closing, close_file, file);
 *     ...
 *     defer_end(&closing);
 *
 * Unwinding or defer_end calls the function; defer_drop cancels the call. */
struct deferred {
    void (*function)(void *argument);
    void *argument;
    struct deferred *next;
};

void defer(struct deferred *deferred, void (*function)(void *argument), void *argument);
void defer_end(struct deferred *deferred);
void defer_drop(struct deferred *deferred);

/* For base/users.h: the border in which a shared thing is made; counts references to it. */
struct users;
struct border_place {
    struct mem_list *list;
    uint64_t number;
};
struct border_place border_here(void);
void border_note(struct users *users, int change);

/* For abandoned threads, which use objects of other threads: an unwinding thread frees no block before all of
 * them have ended. `change` adjusts their number; such a thread itself does not wait. */
void border_strangers(int change);
void border_is_stranger(void);
/* Releases all blocks and references of this thread's borders from them. */
void border_release_all(void);

/* For base/thread.c: passes the blocks of an ended thread to the thread that waited for it. */
struct mem_list *border_end_handed(struct border *border);
void border_take(struct mem_list *list);
