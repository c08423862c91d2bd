/* Where a tensor is, and how it lies there: words of patterns and of launches. */
#ifndef LX_GRAPH_MEMORIES_H
#define LX_GRAPH_MEMORIES_H

enum lx_memory { LX_MEMORY_HBM, LX_MEMORY_LX, LX_MEMORY_COUNT };
enum lx_placing { LX_INTERLEAVED, LX_SHARDED, LX_PLACING_COUNT };

/* Unknown words give the COUNT. Memories go by their names elsewhere, too. */
enum lx_memory lx_memory_find(const char *word);   /* hbm DRAM, lx L1 */
enum lx_placing lx_placing_find(const char *word); /* interleaved, sharded */
const char *lx_memory_word(enum lx_memory m);      /* hbm, lx */
const char *lx_placing_word(enum lx_placing p);

#endif
