# What is taken from outside; the reasons are in docs/dependencies.md.

set(CMAKE_THREAD_PREFER_PTHREAD ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(MW_HAVE_ZLIB OFF)
if(MW_ZLIB)
    find_package(ZLIB)
    set(MW_HAVE_ZLIB ${ZLIB_FOUND})
endif()

set(MW_HAVE_PNG OFF)
if(MW_PNG)
    find_package(PNG)
    set(MW_HAVE_PNG ${PNG_FOUND})
endif()
set(MW_HAVE_JPEG OFF)
if(MW_JPEG)
    find_package(JPEG)
    set(MW_HAVE_JPEG ${JPEG_FOUND})
endif()

# The schemas in src/format become C in the build tree, by protobuf-c's compiler.
set(MW_HAVE_PROTOBUF OFF)
if(MW_PROTOBUF)
    find_program(MW_PROTOC NAMES protoc-c)
    find_path(MW_PROTOBUF_C_INCLUDE protobuf-c/protobuf-c.h)
    find_library(MW_PROTOBUF_C_LIBRARY protobuf-c)
    mark_as_advanced(MW_PROTOC MW_PROTOBUF_C_INCLUDE MW_PROTOBUF_C_LIBRARY)
    if(MW_PROTOC AND MW_PROTOBUF_C_INCLUDE AND MW_PROTOBUF_C_LIBRARY)
        set(MW_HAVE_PROTOBUF ON)
    endif()
endif()

# Property lists of netplists; in its place stand functions that say so.
set(MW_HAVE_PLIST OFF)
if(MW_PLIST)
    find_path(MW_PLIST_INCLUDE plist/plist.h)
    find_library(MW_PLIST_LIBRARY NAMES plist-2.0 plist)
    mark_as_advanced(MW_PLIST_INCLUDE MW_PLIST_LIBRARY)
    if(MW_PLIST_INCLUDE AND MW_PLIST_LIBRARY)
        set(MW_HAVE_PLIST ON)
    endif()
endif()

# What texts are cut with: properties of characters, and patterns that have no scanner here.
set(MW_HAVE_UTF8PROC OFF)
if(MW_UTF8PROC)
    find_path(MW_UTF8PROC_INCLUDE utf8proc.h)
    find_library(MW_UTF8PROC_LIBRARY utf8proc)
    mark_as_advanced(MW_UTF8PROC_INCLUDE MW_UTF8PROC_LIBRARY)
    if(MW_UTF8PROC_INCLUDE AND MW_UTF8PROC_LIBRARY)
        set(MW_HAVE_UTF8PROC ON)
    endif()
endif()
set(MW_HAVE_PCRE2 OFF)
if(MW_PCRE2)
    find_path(MW_PCRE2_INCLUDE pcre2.h)
    find_library(MW_PCRE2_LIBRARY pcre2-8)
    mark_as_advanced(MW_PCRE2_INCLUDE MW_PCRE2_LIBRARY)
    if(MW_PCRE2_INCLUDE AND MW_PCRE2_LIBRARY)
        set(MW_HAVE_PCRE2 ON)
    endif()
endif()

# What reads the command line of mw; without it there is no mw.
set(MW_HAVE_POPT OFF)
if(MW_TOOL)
    find_path(MW_POPT_INCLUDE popt.h)
    find_library(MW_POPT_LIBRARY popt)
    mark_as_advanced(MW_POPT_INCLUDE MW_POPT_LIBRARY)
    if(MW_POPT_INCLUDE AND MW_POPT_LIBRARY)
        set(MW_HAVE_POPT ON)
    endif()
endif()

# Where there are several, -DMPI_EXECUTABLE_SUFFIX=.mpich takes another than the system's choice.
set(MW_HAVE_MPI OFF)
if(MW_MPI)
    find_package(MPI COMPONENTS C)
    set(MW_HAVE_MPI ${MPI_C_FOUND})
endif()

# The single headers are copied into the build tree, so that no system folder comes onto the include path: a
# cross-build would pick up the host's C library there.
set(mw_single_headers ${PROJECT_BINARY_DIR}/single_headers)

function(mw_single_header name package)
    string(MAKE_C_IDENTIFIER "MW_${name}_FOLDER" folder)
    find_path(${folder} ${name} HINTS "${MW_SINGLE_HEADERS_DIR}" /opt/homebrew/include /usr/local/include /usr/include
        NO_CMAKE_FIND_ROOT_PATH)
    mark_as_advanced(${folder})
    if(NOT ${folder})
        message(FATAL_ERROR "${name} not found: install ${package}, or set MW_SINGLE_HEADERS_DIR to its folder")
    endif()
    configure_file(${${folder}}/${name} ${mw_single_headers}/${name} COPYONLY)
endfunction()

mw_single_header(uthash.h "uthash-dev (Debian) or uthash (Homebrew)")
mw_single_header(xxhash.h "libxxhash-dev (Debian) or xxhash (Homebrew)")
