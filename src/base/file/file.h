/* Files: whole reads with a bound, atomic writes, private folders. */
#ifndef MW__BASE_FILE_FILE_H
#define MW__BASE_FILE_FILE_H

#include "base/memory/alloc.h"
#include "base/visible.h"

/* Reads a regular file whole (never a FIFO, device or folder). `limit` bounds its size. *out is NUL-terminated one byte
 * past *out_size and freed with mw__free. */
MW__SIBLING mw_status mw__file_read(const mw_allocator *allocator, const char *path, size_t limit, char **out,
                                    size_t *out_size, mw_error *err);

/* An open file for reading parts of it. */
typedef struct mw__file {
    int descriptor;
    uint64_t size;
} mw__file;

MW__SIBLING mw_status mw__file_open(mw__file *file, const char *path, mw_error *err);
MW__SIBLING void mw__file_close(mw__file *file);
/* As mw__file_read, of a file that is open; *out has file->size bytes and a NUL. */
MW__SIBLING mw_status mw__file_read_open(const mw_allocator *allocator, const mw__file *file, const char *path,
                                         size_t limit, char **out, mw_error *err);
/* True if `path` still leads to this file. */
bool mw__file_is_at(const mw__file *file, const char *path);
/* Reads exactly `size` bytes at `offset`; a short file is MW_ERROR_FORMAT. */
MW__SIBLING mw_status mw__file_read_at(const mw__file *file, uint64_t offset, void *out, size_t size, const char *path,
                                       mw_error *err);

/* Which file it is, whatever its names: that of one that is open or mapped is no other file's. */
typedef struct mw__file_identity {
    uint64_t device, node;
} mw__file_identity;
bool mw__file_identify(int descriptor, mw__file_identity *out);

/* The whole file as memory that is read only, also after the file is closed; NULL for an empty one. Only for files that
 * nobody else can shorten: reading beyond the end of one is a signal. */
mw_status mw__file_map(const mw__file *file, const char *path, void **out, mw_error *err);
void mw__file_unmap(void *data, uint64_t size);

/* Takes over a descriptor that was opened without blocking; closes it if it is not a regular file. */
mw_status mw__file_adopt(mw__file *file, int descriptor, const char *path, mw_error *err);

/* Opens `name`, which a file or a convention says, in the tree of the folder `root`, which the user says: no absolute
 * path, no "..". Symbolic links on the way are followed as long as they stay in the tree; one that is absolute, leads
 * out, or is one of more than 40 is refused, as is what is no regular file.
 *
 * The tree is what lies below the folder; and, for a folder in the cache of a model hub,
 * <store>/snapshots/<revision>/.., what lies below the revision and below <store>/blobs, which is where a hub's
 * downloader keeps the files that its snapshots link to. <store> comes from the real path of the folder that the user
 * named, never from a link in it, and nothing else of it is reached: not other revisions, not other stores. So a model
 * cannot choose what is read beyond the files that were fetched for it. */
MW__SIBLING mw_status mw__file_open_below(mw__file *file, const char *root, const char *name, mw_error *err);
/* The same for a path whose last component is the name. */
mw_status mw__file_open_in_folder(mw__file *file, const char *path, mw_error *err);

/* A file that appears whole or not at all: begin makes a temporary beside the target, write appends, commit does fsync,
 * rename, fsync of the folder; deinit without commit removes the temporary. A failed call has removed it already, and
 * write and commit are MW_ERROR_STATE from then on; deinit is always fine. A failure leaves the old file, with one
 * exception: if only the fsync of the folder fails, the new file is in place but might not survive a power cut.
 * `durable` = false leaves out the two fsyncs (compile files). A process that is killed may leave
 * a temporary with a name of temporary.h; the next write of that path removes it (stale.h).
 *
 * The target is `path`, or where its symbolic links lead: the links stay, the file they lead to is replaced, and one
 * that is missing is made if its folder is there. Links that form a loop are refused, and another
 * user's in a folder that all may write to (/tmp), and so is, by its kind and before
 * anything is written, what exists and is no regular file: a folder, device, FIFO or socket. The target's folder is
 * held open from begin to commit, so that nothing can be exchanged on the way there in between. A new file has mode
 * 0666 & ~umask; one that replaces another has its permission bits (without set-id bits), and its owner and group where
 * the system lets us; where the group cannot be kept, the new one may do what others may. The temporary is never open
 * to more than that. Extended attributes and further hard links stay with the old file. */
typedef struct mw__file_writer {
    const mw_allocator *allocator;
    char *path;      /* as given, for messages */
    char *name;      /* of the target in its folder */
    char *temporary; /* in the same folder */
    int folder;      /* -1 = none */
    int descriptor;  /* -1 = none */
    bool durable;
    bool placed; /* the new file stands at its name; deinit keeps this one field */
} mw__file_writer;

MW__SIBLING mw_status mw__file_writer_begin(mw__file_writer *writer, const mw_allocator *allocator, const char *path,
                                            bool durable, mw_error *err);
MW__SIBLING mw_status mw__file_writer_write(mw__file_writer *writer, const void *data, size_t size, mw_error *err);
MW__SIBLING mw_status mw__file_writer_commit(mw__file_writer *writer, mw_error *err);
MW__SIBLING void mw__file_writer_deinit(mw__file_writer *writer);

/* Locks the file for this descriptor alone (flock), and waits at most that long for another holder. False with the
 * reason in errno: EWOULDBLOCK means that another process held the lock all the time, anything else that there are no
 * locks here. A holder that was stopped never lets go, so nothing in the library waits without a limit. */
bool mw__file_lock_within(int descriptor, long milliseconds);

/* Writes all of it at the descriptor's place, without a signal (signal_safe.h). False with the reason in errno; then a
 * part may be written. */
bool mw__file_write_all(int descriptor, const void *data, size_t size);

/* begin, write, commit. */
MW__SIBLING mw_status mw__file_write(const mw_allocator *allocator, const char *path, const void *data, size_t size,
                                     bool durable, mw_error *err);

/* The system calls of a durable write go through this table, so that a test can fail call n for every n and kill the
 * process between two of them. NULL restores the real ones. Process-wide, and for tests alone. */
struct stat;
typedef struct mw__file_calls {
    int (*open)(int folder, const char *path, int flags, int mode);
    int (*stat)(int folder, const char *name, struct stat *out, bool follow);
    long (*readlink)(int folder, const char *name, char *out, size_t size);
    int (*chown)(int descriptor, long owner, long group); /* -1 = as it is */
    int (*chmod)(int descriptor, int mode);
    long (*write)(int descriptor, const void *data, size_t size);
    int (*fsync)(int descriptor);
    int (*close)(int descriptor);
    int (*rename)(int folder, const char *from, const char *to);
    int (*unlink)(int folder, const char *name);
    int (*link)(const char *from, const char *to); /* follows `from` */
    int (*lock)(int descriptor, int how);          /* flock(2) */
    void (*pause)(long milliseconds);              /* between two attempts to lock */
} mw__file_calls;
extern const mw__file_calls mw__file_real_calls;
const mw__file_calls *mw__file_get_calls(void);
void mw__file_set_calls(const mw__file_calls *calls);

/* Makes a new folder with mode 0700 below $TMPDIR, or else in memory (/dev/shm) if `size` bytes, what it will hold, are
 * few and a small part of what is free there, or else below /tmp; *out is freed with mw__free. */
mw_status mw__file_make_private_folder(const mw_allocator *allocator, size_t size, char **out, mw_error *err);
/* Removes a folder and the plain files in it (one level); errors are ignored. */
void mw__file_remove_folder(const char *path);
/* Creates `path` and its parents with mode 0777 & ~umask; existing ones are fine. */
mw_status mw__file_make_folders(const char *path, mw_error *err);

#endif
