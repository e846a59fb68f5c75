#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>

// prctl takes a variable number of arguments, which Swift does not call.

static inline int tally_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

static inline int tally_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

// Declared by glibc (2.34 and later has all three) only under _GNU_SOURCE, which Swift does not set.

extern int memfd_create(const char *name, unsigned int flags);
extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

static const unsigned int tally_memfd_cloexec = 1u;
