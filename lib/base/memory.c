/* Blocks, borders and deferred functions of a thread.
 *
 * A thread in a border has a *list*: its living blocks since, newest first, with a mark for each border. Only
 * the thread itself changes its list. A block that another thread frees goes on a stack beside the list, and
 * the owner frees it soon; blocks without an owner are freed at once. Lists are never freed, because another
 * thread may be reading one; a new thread reuses a list that an ended one left. */
#include "base/base.h"
#include "base/users.h"

#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = sizeof(struct mem_block), STATIC_LISTS = 256 };
_Static_assert(HEADER % 16 == 0, "blocks are aligned to 16 bytes");

/* A block freed by another thread links to the next in its first bytes, so blocks are at least this large. */
enum { LEAST = sizeof(struct mem_block *) };

/* References taken inside a border to a thing from outside, and not given back. */
struct border_reference {
    struct users *users;
    uint64_t border;
    int count;
    struct border_reference *next;
};

struct mem_list {
    struct mem_block head;           /* circular */
    struct mem_block *_Atomic freed; /* by other threads; linked through their first bytes */
    uint64_t number;                 /* of the newest border ever */
    struct border_reference *references;
    struct mem_list *next_free;
};

static struct mem_list static_lists[STATIC_LISTS];
static struct {
    atomic_flag busy;
    size_t used; /* of the static ones */
    struct mem_list *free;
} lists = {.busy = ATOMIC_FLAG_INIT};

THREAD_STATE struct {
    struct mem_list *list; /* NULL: no border */
    struct border *innermost;
    struct deferred *deferred;
    bool keeps, is_stranger;
} mine;

/* --- Lists. --- */

static struct mem_list *list_new(void)
{
    while (atomic_flag_test_and_set_explicit(&lists.busy, memory_order_acquire)) continue;
    struct mem_list *list = lists.free;
    if (list)
        lists.free = list->next_free;
    else if (lists.used < STATIC_LISTS)
        list = &static_lists[lists.used++];
    atomic_flag_clear_explicit(&lists.busy, memory_order_release);
    if (!list) list = calloc(1, sizeof *list);
    if (list) list->head.next = list->head.before = &list->head;
    return list;
}

static void list_leave(struct mem_list *list)
{
    while (atomic_flag_test_and_set_explicit(&lists.busy, memory_order_acquire)) continue;
    list->next_free = lists.free;
    lists.free = list;
    atomic_flag_clear_explicit(&lists.busy, memory_order_release);
}

static struct mem_list *block_owner(struct mem_block *block)
{
    return __atomic_load_n(&block->owner, __ATOMIC_ACQUIRE);
}

static void block_own(struct mem_block *block, struct mem_list *owner)
{
    __atomic_store_n(&block->owner, owner, __ATOMIC_RELEASE);
}

static void block_link(struct mem_block *block, struct mem_block *behind)
{
    block->before = behind->before;
    block->next = behind;
    block->before->next = block;
    behind->before = block;
}

static void block_unlink(struct mem_block *block)
{
    block->before->next = block->next;
    block->next->before = block->before;
}

/* --- Blocks. --- */

static const uint64_t MOST = ((uint64_t)1 << 56) - 1; /* bytes of a block */

static struct mem_block *mem_block_of(void *at)
{
    return (struct mem_block *)((char *)at - HEADER);
}

static void block_free(struct mem_block *block)
{
    free((char *)block + HEADER - ((size_t)1 << block->shift));
}

static size_t block_size(size_t size)
{
    if (size > SIZE_MAX / 4) memory_out(); /* some allocators end the program on such a size */
    return size < LEAST ? LEAST : size;
}

/* Frees the blocks that other threads gave back. */
static void list_drain(struct mem_list *list)
{
    struct mem_block *block = atomic_exchange_explicit(&list->freed, NULL, memory_order_acquire);
    for (struct mem_block *next; block; block = next) {
        memcpy(&next, (char *)block + HEADER, sizeof next);
        if (block_owner(block)) block_unlink(block);
        block_free(block);
    }
}

/* Such blocks are mappings of their own: in large pages they are filled and given back much faster. */
static void prefer_large_pages(char *at, size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { PAGE = 4096, MANY = 32 << 20 };
    size_t skipped = -(uintptr_t)at % PAGE;
    if (size >= MANY) madvise(at + skipped, (size - skipped) / PAGE * PAGE, MADV_HUGEPAGE);
#else
    (void)at, (void)size;
#endif
}

static void *block_begin(void *at, size_t size, int shift)
{
    if (!at) memory_out();
    prefer_large_pages(at, size);
    char *begin = (char *)at + ((size_t)1 << shift);
    struct mem_block *block = mem_block_of(begin);
    *block = (struct mem_block){.size = size & MOST, .shift = (unsigned char)shift};
    if (!mine.list || mine.keeps) return begin;
    block->owner = mine.list;
    block_link(block, mine.list->head.next);
    if (atomic_load_explicit(&mine.list->freed, memory_order_relaxed)) list_drain(mine.list);
    return begin;
}

enum { SHIFT = 5 };
_Static_assert(HEADER == 1 << SHIFT, "the header of most blocks is all that stands before them");

void *mem_alloc(size_t size)
{
    return block_begin(malloc(HEADER + block_size(size)), size, SHIFT);
}

void *mem_zeroed(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) memory_out();
    return block_begin(calloc(1, HEADER + block_size(bytes)), bytes, SHIFT);
}

void *mem_try_zeroed(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) return NULL;
    void *at = calloc(1, HEADER + block_size(bytes));
    return at ? block_begin(at, bytes, SHIFT) : NULL;
}

void *mem_aligned(size_t alignment, size_t size)
{
    int shift = SHIFT;
    while ((size_t)1 << shift < alignment) shift++;
    size_t step = (size_t)1 << shift, whole = (block_size(size) + 2 * step - 1) & ~(step - 1);
    return block_begin(aligned_alloc(step, whole), size, shift);
}

/* As realloc; copies if the block has another owner or is aligned. */
void *mem_resize(void *at, size_t size)
{
    if (!at) return mem_alloc(size);
    struct mem_block *block = mem_block_of(at);
    struct mem_list *owner = block_owner(block);
    size_t least = block_size(size);
    if (block->shift != SHIFT || (owner && owner != mine.list)) {
        void *copy = mem_aligned((size_t)1 << block->shift, size);
        memcpy(copy, at, size < block->size ? size : block->size);
        mem_free(at);
        return copy;
    }
    struct mem_block *moved = realloc(block, HEADER + least);
    if (!moved) memory_out();
    moved->size = size & MOST;
    if (owner) moved->before->next = moved->next->before = moved;
    return moved + 1;
}

char *mem_string(const char *text)
{
    return mem_string_n(text, strlen(text));
}

char *mem_string_n(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = mem_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *mem_format(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_alloc(length < 0 ? 1 : (size_t)length + 1);
    *text = 0;
    if (length >= 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void mem_free(void *at)
{
    if (!at) return;
    struct mem_block *block = mem_block_of(at), *first;
    struct mem_list *owner = block_owner(block);
    if (owner && owner != mine.list) {
        first = atomic_load_explicit(&owner->freed, memory_order_relaxed);
        do memcpy(at, &first, sizeof first);
        while (!atomic_compare_exchange_weak_explicit(&owner->freed, &first, block, memory_order_release,
                                                      memory_order_relaxed));
        return;
    }
    if (owner) block_unlink(block);
    block_free(block);
}

void mem_disown(void *at)
{
    struct mem_block *block = mem_block_of(at);
    if (block_owner(block) != mine.list || !mine.list) return;
    block_unlink(block);
    block_own(block, NULL);
}

/* --- References to shared things. --- */

struct border_place border_here(void)
{
    if (!mine.list || mine.keeps) return (struct border_place){0};
    return (struct border_place){mine.list, mine.innermost->number};
}

/* Was the thing made inside the border, which frees it? */
static bool border_made(const struct border *border, const struct users *users)
{
    return users->made.list == mine.list && users->made.number >= border->number;
}

static struct border_reference **border_references(const struct border *border, const struct users *users)
{
    struct border_reference **at = &mine.list->references;
    while (*at && ((*at)->users != users || (*at)->border != border->number)) at = &(*at)->next;
    return at;
}

static void reference_remove(struct border_reference **at)
{
    struct border_reference *gone = *at;
    *at = gone->next;
    free(gone);
}

void border_note(struct users *users, int change)
{
    if (!mine.list || mine.keeps || border_made(mine.innermost, users)) return;
    struct border_reference **at = border_references(mine.innermost, users), *made;
    if (*at) {
        (*at)->count += change;
        if ((*at)->count == 0) reference_remove(at);
    } else if (change > 0) {
        if (!(made = malloc(sizeof *made))) memory_out();
        *made = (struct border_reference){users, mine.innermost->number, change, mine.list->references};
        mine.list->references = made;
    }
}

/* Moves a reference of an inner border, or of a thread, to `border`. */
static void reference_take(const struct border *border, struct border_reference *taken)
{
    struct border_reference **same = border_references(border, taken->users);
    if (*same || border_made(border, taken->users)) {
        if (*same) (*same)->count += taken->count;
        free(taken);
        return;
    }
    taken->border = border->number;
    taken->next = mine.list->references;
    mine.list->references = taken;
}

/* Takes the border's references out of the list. */
static struct border_reference *references_of(struct mem_list *list, const struct border *border)
{
    struct border_reference *taken = NULL, *one;
    for (struct border_reference **at = &list->references; (one = *at);) {
        if (one->border == border->number) {
            *at = one->next;
            one->next = taken;
            taken = one;
        } else {
            at = &one->next;
        }
    }
    return taken;
}

static void references_free(struct border_reference *first)
{
    while (first) reference_remove(&first);
}

/* --- Borders. --- */

bool border_enter(struct border *border, bool keeps)
{
    if (!mine.list) mine.list = list_new();
    if (!mine.list) return false;
    border->outer = mine.innermost;
    border->deferred = mine.deferred;
    border->number = ++mine.list->number;
    border->keeps = keeps;
    border->mark.owner = NULL;
    block_link(&border->mark, mine.list->head.next);
    mine.innermost = border;
    mine.keeps = keeps;
    return true;
}

static void border_leave(struct border *border)
{
    block_unlink(&border->mark);
    mine.innermost = border->outer;
    mine.deferred = border->deferred;
    mine.keeps = border->outer && border->outer->keeps;
    if (!border->outer) mine.list = NULL;
}

void border_end(struct border *border)
{
    if (!border->outer || border->outer->keeps) {
        border_end_released(border);
        return;
    }
    for (struct border_reference *one = references_of(mine.list, border), *next; one; one = next) {
        next = one->next;
        reference_take(border->outer, one);
    }
    border_leave(border);
}

void border_end_released(struct border *border)
{
    struct mem_list *list = mine.list;
    list_drain(list);
    for (struct mem_block *block = list->head.next, *next; block != &border->mark; block = next) {
        next = block->next;
        block_own(block, NULL);
    }
    border->mark.before = &list->head;
    list->head.next = &border->mark;
    references_free(references_of(list, border));
    border_leave(border);
    if (!border->outer) list_leave(list);
}

static atomic_int strangers;

void border_strangers(int change)
{
    atomic_fetch_add(&strangers, change);
}

void border_is_stranger(void)
{
    mine.is_stranger = true;
}

void border_release_all(void)
{
    struct mem_list *list = mine.list;
    if (!list) return;
    list_drain(list);
    for (struct mem_block *block = list->head.next, *next; block != &list->head; block = next) {
        next = block->next;
        if (!block_owner(block)) continue; /* the mark of a border */
        block_unlink(block);
        block_own(block, NULL);
    }
    references_free(list->references);
    list->references = NULL;
}

void memory_out(void)
{
    struct border *border = mine.innermost;
    if (!border) abort();
    struct mem_list *list = mine.list;
    while (mine.deferred != border->deferred) {
        struct deferred *newest = mine.deferred;
        mine.deferred = newest->next;
        newest->function(newest->argument);
    }
    while (!mine.is_stranger && atomic_load(&strangers) > 0) usleep(1000);
    while (list->references && list->references->border == border->number) {
        struct users *users = list->references->users;
        users->release(users->thing); /* it decrements the count */
    }
    list_drain(list);
    while (list->head.next != &border->mark) mem_free(list->head.next + 1);
    border_leave(border);
    if (!border->outer) list_leave(list);
    longjmp(border->jump, 1);
}

/* --- Threads. --- */

struct mem_list *border_end_handed(struct border *border)
{
    struct mem_list *list = mine.list;
    border_leave(border);
    return list;
}

void border_take(struct mem_list *list)
{
    bool owns = mine.list && !mine.keeps;
    list_drain(list);
    for (struct mem_block *block; (block = list->head.next) != &list->head;) {
        block_unlink(block);
        if (owns) block_link(block, mine.list->head.next);
        block_own(block, owns ? mine.list : NULL);
    }
    for (struct border_reference *one = list->references, *next; one; one = next) {
        next = one->next;
        if (owns)
            reference_take(mine.innermost, one);
        else
            free(one);
    }
    list->references = NULL;
    list_drain(list);
    list_leave(list);
}

/* --- Deferred functions. --- */

void defer(struct deferred *deferred, void (*function)(void *argument), void *argument)
{
    *deferred = (struct deferred){function, argument, mine.deferred};
    mine.deferred = deferred;
}

void defer_drop(struct deferred *deferred)
{
    struct deferred **at = &mine.deferred;
    while (*at && *at != deferred) at = &(*at)->next;
    if (*at) *at = deferred->next;
}

void defer_end(struct deferred *deferred)
{
    defer_drop(deferred);
    deferred->function(deferred->argument);
}
