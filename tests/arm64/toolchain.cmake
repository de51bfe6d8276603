# SPDX-License-Identifier: Apache-2.0
# A build for Linux on arm64 by a cross compiler, against the libraries in TROUPE_ARM64_ROOT; its programs run in qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT $ENV{TROUPE_ARM64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;$ENV{TROUPE_ARM64_ROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{TROUPE_ARM64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} $ENV{TROUPE_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
