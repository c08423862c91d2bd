/* The functions of the GPU's driver and of its run-time compiler that the room calls, declared by us:
 * nothing of CUDA is needed to build. Private to the room. */
#pragma once

#include "base/base.h"

typedef uint64_t gpu_address;

/* X(name, name in the library, parameters); all return 0 if they succeed. */
#define GPU_DRIVER(X)                                                                                        \
    X(init, "cuInit", (unsigned flags))                                                                      \
    X(device, "cuDeviceGet", (int *device, int ordinal))                                                     \
    X(device_name, "cuDeviceGetName", (char *name, int length, int device))                                  \
    X(attribute, "cuDeviceGetAttribute", (int *value, int which, int device))                                \
    X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                                      \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                 \
    X(current, "cuCtxSetCurrent", (void *context))                                                           \
    X(load, "cuModuleLoadData", (void **module, const void *image))                                          \
    X(unload, "cuModuleUnload", (void *module))                                                              \
    X(function, "cuModuleGetFunction", (void **function, void *module, const char *name))                    \
    X(set_function, "cuFuncSetAttribute", (void *function, int which, int value))                            \
    X(get_function, "cuFuncGetAttribute", (int *value, int which, void *function))                           \
    X(allocate, "cuMemAlloc_v2", (gpu_address * at, size_t bytes))                                           \
    X(deallocate, "cuMemFree_v2", (gpu_address at))                                                          \
    X(pin, "cuMemHostAlloc", (void **at, size_t bytes, unsigned flags))                                      \
    X(unpin, "cuMemFreeHost", (void *at))                                                                    \
    X(upload, "cuMemcpyHtoD_v2", (gpu_address to, const void *from, size_t bytes))                           \
    X(download, "cuMemcpyDtoH_v2", (void *to, gpu_address from, size_t bytes))                               \
    X(fill, "cuMemsetD8_v2", (gpu_address at, unsigned char value, size_t bytes))                            \
    X(launch, "cuLaunchCooperativeKernel",                                                                   \
      (void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,            \
       unsigned shared, void *stream, void **arguments))                                                     \
    X(stream, "cuStreamCreate", (void **stream, unsigned flags))                                             \
    X(stream_end, "cuStreamDestroy_v2", (void *stream))                                                      \
    X(wait, "cuStreamSynchronize", (void *stream))                                                           \
    X(capture, "cuStreamBeginCapture_v2", (void *stream, int mode))                                          \
    X(captured, "cuStreamEndCapture", (void *stream, void **graph))                                          \
    X(instantiate, "cuGraphInstantiateWithFlags", (void **executable, void *graph, uint64_t flags))          \
    X(launch_graph, "cuGraphLaunch", (void *executable, void *stream))                                       \
    X(graph_end, "cuGraphDestroy", (void *graph))                                                            \
    X(executable_end, "cuGraphExecDestroy", (void *executable))                                              \
    X(event, "cuEventCreate", (void **event, unsigned flags))                                                \
    X(event_end, "cuEventDestroy_v2", (void *event))                                                         \
    X(record, "cuEventRecord", (void *event, void *stream))                                                  \
    X(event_wait, "cuEventSynchronize", (void *event))                                                       \
    X(elapsed, "cuEventElapsedTime", (float *ms, void *begin, void *end))                                    \
    X(error_text, "cuGetErrorString", (int error, const char **text))

#define GPU_COMPILER(X)                                                                                      \
    X(create, "nvrtcCreateProgram",                                                                          \
      (void **program, const char *text, const char *name, int headers, const char *const *header,           \
       const char *const *names))                                                                            \
    X(compile, "nvrtcCompileProgram", (void *program, int options, const char *const *option))               \
    X(size, "nvrtcGetCUBINSize", (void *program, size_t *size))                                              \
    X(image, "nvrtcGetCUBIN", (void *program, char *image))                                                  \
    X(log_size, "nvrtcGetProgramLogSize", (void *program, size_t *size))                                     \
    X(log, "nvrtcGetProgramLog", (void *program, char *log))                                                 \
    X(destroy, "nvrtcDestroyProgram", (void **program))

#define GPU_MEMBER(name, symbol, parameters) int(*name) parameters;

struct gpu_driver {
    void *library;
    GPU_DRIVER(GPU_MEMBER)
};

struct gpu_compiler {
    void *library;
    GPU_COMPILER(GPU_MEMBER)
};

/* False: `st` says which library or function is missing. The libraries stay loaded until the program ends. */
bool gpu_driver_load(struct gpu_driver *d, lx_status *st);
bool gpu_compiler_load(struct gpu_compiler *c, lx_status *st);
