/* What processes that were killed left behind: the temporaries beside a file that was being written, and private
 * folders. Each has a lock that its owner holds and that dies with it (flock), so that who gets the lock knows that
 * nobody owns the thing any more. Nothing is removed that has another owner's user, another kind or another name, that
 * is a link, or that lies on a file system of several machines, whose locks may not reach the others. */
#ifndef MW__BASE_FILE_STALE_H
#define MW__BASE_FILE_STALE_H

#include <stdbool.h>

/* Locks a temporary that was just made, until it is closed. false: somebody is removing it, make another. Where there
 * are no locks it is true, and nobody can remove it. */
bool mw__stale_claim(int descriptor);
/* Removes temporaries of dead writers of `name` in the open folder: files with a name of base/file/temporary.h. */
void mw__stale_sweep_files(int folder, const char *name);

/* Opens a folder that was just made beside its target, and locks it until it is closed. -1 with EEXIST: somebody is
 * removing it, make another; -1 with another reason: it cannot be opened. */
int mw__stale_hold_folder(const char *path);
/* Removes folders that dead processes made beside the target `path`, with such names. */
void mw__stale_sweep_beside(const char *path);

/* The file in a private folder that is locked, and that has the folder's name as its text: a copy is nobody's. */
#define MW__STALE_MARKER ".owner"
/* Marks a private folder that was just made. Returns the descriptor that holds the lock, to be closed when the folder
 * is removed; -1 where that is not possible: then nobody but its owner removes it. */
int mw__stale_mark_folder(const char *path);
/* Removes folders "millwright-XXXXXX" of dead owners in this one. */
void mw__stale_sweep_folders(const char *parent);

#endif
