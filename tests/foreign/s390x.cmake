# Toolchain for s390x, a big-endian machine: gcc-s390x-linux-gnu compiles, qemu-s390x runs. What Debian's cross compiler does
# not bring (cmocka, cJSON) foreign.sh has unpacked into the build folder; the machine's own packages stay as they are.
set(ROOT ${CMAKE_CURRENT_LIST_DIR}/../../build-s390x/root)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${ROOT} /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${ROOT}/usr/lib/s390x-linux-gnu/pkgconfig)
