/* What programs begin with, as text: the files of the same names, embedded when the library is built.
 * Private to the room. */
#pragma once

extern const char emit_prelude_cuda_cu[], emit_prelude_host_in[], emit_prelude_bodies_in[];
