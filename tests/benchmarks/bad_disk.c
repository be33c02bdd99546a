/* A disk that fails on request, preloaded into the processes of a service (LD_PRELOAD).
 *
 * BAD_DISK_CONTROL names a file of 4,096 bytes: the first says what fails now (the numbers are in
 * faults.py), the others hold the folder below which it does, ending in a slash and zeros. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FULL = 1, WRITE_ERROR = 2, SYNC_ERROR = 4, SLOW_SYNC = 8, READ_ONLY = 16, SLOW_WRITE = 32 };

static const unsigned char nothing[4096];
static const volatile unsigned char *control = nothing;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("BAD_DISK_CONTROL");
    int fd = name ? open(name, O_RDONLY) : -1;
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof nothing, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) control = page;
}

static int is_ours(const char *path) {
    const char *folder = (const char *)control + 1;
    return *folder && strncmp(path, folder, strlen(folder)) == 0;
}

/* What fails of these kinds for an open file; 0 for files elsewhere. */
static int failing(int fd, int kinds) {
    int wanted = *control & kinds;
    char link[32], path[4096];
    if (!wanted) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path) ? wanted : 0;
}

static int fail(int error) {
    errno = error;
    return -1;
}

/* Return -1 with errno if a write up to `end` fails now. A full disk lets files keep their size. */
static int refuse_write(int fd, off_t end) {
    struct stat found;
    int kinds = failing(fd, FULL | WRITE_ERROR | READ_ONLY | SLOW_WRITE);
    if (kinds & SLOW_WRITE) usleep(500000);
    if (kinds & READ_ONLY) return fail(EROFS);
    if (kinds & WRITE_ERROR) return fail(EIO);
    if (kinds & FULL && fstat(fd, &found) == 0 && end > found.st_size) return fail(ENOSPC);
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    off_t at = *control ? lseek(fd, 0, SEEK_CUR) : 0;
    return refuse_write(fd, at + (off_t)size) ? -1 : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    return refuse_write(fd, at + (off_t)size) ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    return refuse_write(fd, at + (off_t)size) ? -1 : REAL(pwrite64)(fd, data, size, at);
}

static int refuse_sync(int fd) {
    int kinds = failing(fd, SYNC_ERROR | SLOW_SYNC);
    if (kinds & SLOW_SYNC) usleep(500000);
    return kinds & SYNC_ERROR ? fail(EIO) : 0;
}

int fsync(int fd) { return refuse_sync(fd) ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return refuse_sync(fd) ? -1 : REAL(fdatasync)(fd); }

#define OPEN(name)                                                            \
    int name(const char *path, int flags, ...) {                              \
        va_list rest;                                                         \
        va_start(rest, flags);                                                \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                         \
        int changes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT;     \
        if (*control & READ_ONLY && changes && is_ours(path)) return fail(EROFS); \
        return REAL(name)(path, flags, mode);                                 \
    }

OPEN(open)
OPEN(open64)
