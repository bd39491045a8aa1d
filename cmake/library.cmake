# Each room of src/ is compiled once, as an object library; the products are made of the same objects.

# mw_room_at(<room> <path> <folder>...): objects of src/<path> and of its folders; appends to mw_rooms. A room without
# sources is left out, and so are the files in mw_left_out.
set(mw_rooms)
set(mw_left_out)
macro(mw_room_at room path)
    file(GLOB mw_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${path}/*.c)
    foreach(folder ${ARGN})
        file(GLOB mw_more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${path}/${folder}/*.c)
        list(APPEND mw_sources ${mw_more})
    endforeach()
    list(REMOVE_ITEM mw_sources ${mw_left_out} "")
    if(mw_sources)
        list(APPEND mw_rooms ${room})
        add_library(millwright_objects_${room} OBJECT ${mw_sources})
        mw_target_flags(millwright_objects_${room})
        mw_target_hardening(millwright_objects_${room})
        target_include_directories(millwright_objects_${room} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    endif()
endmacro()
macro(mw_room room)
    mw_room_at(${room} ${room} ${ARGN})
endmacro()

mw_room(base file memory number text thread)
mw_room(graph ir constants geometry ops/array ops/network patterns random transform transform/batch transform/clone
    transform/extents transform/flatten transform/segment transform/tune transform/vmap values)
mw_room(autograd losses optimizers vjp)
mw_room(passes)
mw_room(rules)
# Rooms apart: costs are a part of libmillwright_e5rt too, and what needs libplist has its own include folders.
mw_room_at(cost chip/cost)
mw_room(chip hwx task plan e5)
if(MW_HAVE_PLIST)
    mw_room_at(netplist chip/netplist)
else()
    mw_room_at(netplist chip/without_libplist)
endif()
mw_room(mil check join legalize legalize/numbers text weights)
# A format whose library is missing is left out; in its place stand functions that say so.
set(mw_format_folders tensors)
if(MW_HAVE_PROTOBUF)
    list(APPEND mw_format_folders coreml onnx onnx/check onnx/ops onnx/read onnx/write protobuf)
else()
    list(APPEND mw_format_folders without_protobuf)
endif()
mw_room(format ${mw_format_folders})
mw_room(runtime compare data dispatch evaluate fit metrics model parallel plan program state trainer trainer/build
    trainer/object trainer/options trainer/ranks trainer/step trainer/watch weights)
mw_room(data augment encoder image labeled records sound table)
mw_room(inspect)
mw_room(learn losses scores)
mw_room(ranks)
mw_room(text data embed generate json model net normal pretrained read regex split tokenizer train tune unicode)
mw_room(view)
# Kernels run tens of times in a step that may take half a microsecond, and nothing that a file or a caller chooses is
# a length of theirs on the stack: sizes are the planner's. The stack protector costs them 2 % of such a step.
set(mw_kernel_folders kernels)
foreach(family conv conv/dweight elementwise fused gather gemm int8 math normalize pool recurrent reduce shape winograd)
    list(APPEND mw_kernel_folders kernels/${family})
endforeach()
file(GLOB_RECURSE mw_kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/engine/kernels/*.c)
set_source_files_properties(${mw_kernel_sources} PROPERTIES COMPILE_OPTIONS -fno-stack-protector)

# Kernels of one instruction set are the files with its name at the end. They are compiled with these flags where the
# compiler defines <architecture>, and <definition> is then 1; elsewhere they are left out. The flags are those of the
# files, so nothing of them may run on a processor that has not been asked.
include(CheckCSourceCompiles)
set(mw_kernel_definitions)
set(mw_kernels_left_out)
macro(mw_kernel_set suffix architecture definition)
    file(GLOB_RECURSE mw_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/engine/kernels/*_${suffix}.c)
    check_c_source_compiles("#if !defined(${architecture})\n#error\n#endif\nint main(void) { return 0; }"
        MW_COMPILER_HAS_${definition})
    if(MW_COMPILER_HAS_${definition})
        list(APPEND mw_kernel_definitions ${definition}=1)
        set_source_files_properties(${mw_sources} PROPERTIES COMPILE_OPTIONS "-fno-stack-protector;${ARGN}")
    else()
        list(APPEND mw_kernels_left_out ${mw_sources})
    endif()
endmacro()
mw_kernel_set(avx512 __x86_64__ MW_HAVE_AVX512 -mavx512f -mavx512bw -mavx512vl)
# Taken by processors that have no more of AVX-512 than this.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/engine/kernels/gemm/gemm_avx512.c PROPERTIES
    COMPILE_OPTIONS "-fno-stack-protector;-mavx512f")

set(mw_left_out ${mw_kernels_left_out})
mw_room(engine core ${mw_kernel_folders} compile compile/fuse compile/patterns compile/plan compile/source compile/storage
    cache run surface)
set(mw_left_out)
target_compile_definitions(millwright_objects_engine PRIVATE ${mw_kernel_definitions})

# What the engine is known by in a cache: any of its sources changes it.
file(GLOB_RECURSE mw_engine_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/src/base/*
    ${PROJECT_SOURCE_DIR}/src/graph/* ${PROJECT_SOURCE_DIR}/src/passes/* ${PROJECT_SOURCE_DIR}/src/rules/*
    ${PROJECT_SOURCE_DIR}/src/chip/cost/*
    ${PROJECT_SOURCE_DIR}/src/mil/*
    ${PROJECT_SOURCE_DIR}/src/engine/*)
list(JOIN mw_engine_sources "\n" mw_engine_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/engine_build/sources.txt CONTENT "${mw_engine_list}\n" @ONLY)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/engine_build/mw_engine_build.h
    COMMAND ${CMAKE_COMMAND} -DOUT=${PROJECT_BINARY_DIR}/engine_build/mw_engine_build.h
        -DLIST=${PROJECT_BINARY_DIR}/engine_build/sources.txt -DVERSION=${PROJECT_VERSION}
        "-DFLAGS=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_C_FLAGS} ${CMAKE_BUILD_TYPE}"
        -P ${PROJECT_SOURCE_DIR}/cmake/engine_build.cmake
    DEPENDS ${mw_engine_sources} ${PROJECT_SOURCE_DIR}/cmake/engine_build.cmake VERBATIM)
target_sources(millwright_objects_engine PRIVATE ${PROJECT_BINARY_DIR}/engine_build/mw_engine_build.h)
target_include_directories(millwright_objects_engine PRIVATE ${PROJECT_BINARY_DIR}/engine_build)

if(TARGET millwright_objects_base)
    target_include_directories(millwright_objects_base SYSTEM PRIVATE ${mw_single_headers})
endif()
if(TARGET millwright_objects_base AND MW_HAVE_ZLIB)
    target_compile_definitions(millwright_objects_base PRIVATE MW_HAVE_ZLIB=1)
    target_include_directories(millwright_objects_base SYSTEM PRIVATE ${ZLIB_INCLUDE_DIRS})
endif()

foreach(library PNG JPEG)
    if(TARGET millwright_objects_data AND MW_HAVE_${library})
        target_compile_definitions(millwright_objects_data PRIVATE MW_HAVE_${library}=1)
        target_include_directories(millwright_objects_data SYSTEM PRIVATE ${${library}_INCLUDE_DIRS})
    endif()
endforeach()

foreach(library WEBP SNDFILE)
    if(TARGET millwright_objects_data AND MW_HAVE_${library})
        target_compile_definitions(millwright_objects_data PRIVATE MW_HAVE_${library}=1)
        target_include_directories(millwright_objects_data SYSTEM PRIVATE ${MW_${library}_INCLUDE})
    endif()
endforeach()

foreach(library UTF8PROC PCRE2)
    if(TARGET millwright_objects_text AND MW_HAVE_${library})
        target_compile_definitions(millwright_objects_text PRIVATE MW_HAVE_${library}=1)
        target_include_directories(millwright_objects_text SYSTEM PRIVATE ${MW_${library}_INCLUDE})
    endif()
endforeach()

if(MW_HAVE_PLIST)
    target_include_directories(millwright_objects_netplist SYSTEM PRIVATE ${MW_PLIST_INCLUDE})
endif()

# mw_schema(<room> <folder> <name>...): C of the .proto files of src/<room>/<folder>, in the build tree. Foreign code:
# it is held to no warnings of ours.
function(mw_schema room folder)
    set(from ${PROJECT_SOURCE_DIR}/src/${room}/${folder})
    set(to ${PROJECT_BINARY_DIR}/schema/${folder})
    file(MAKE_DIRECTORY ${to})
    foreach(name ${ARGN})
        file(GLOB schemas CONFIGURE_DEPENDS ${from}/*.proto)
        add_custom_command(OUTPUT ${to}/${name}.pb-c.c ${to}/${name}.pb-c.h
            COMMAND ${MW_PROTOC} --c_out=${to} -I ${from} ${from}/${name}.proto
            DEPENDS ${schemas} VERBATIM)
        set_source_files_properties(${to}/${name}.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
        target_sources(millwright_objects_${room} PRIVATE ${to}/${name}.pb-c.c ${to}/${name}.pb-c.h)
    endforeach()
    target_include_directories(millwright_objects_${room} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/schema
        ${MW_PROTOBUF_C_INCLUDE})
    target_include_directories(millwright_objects_${room} SYSTEM PRIVATE ${to}) # schemas name each other without a folder
endfunction()
if(MW_HAVE_PROTOBUF)
    mw_schema(format coreml mil model)
    mw_schema(format onnx onnx)
endif()

# mw_objects(<variable> <room>...): the objects of those rooms that have any.
function(mw_objects variable)
    set(objects)
    foreach(room ${ARGN})
        if(room IN_LIST mw_rooms)
            list(APPEND objects $<TARGET_OBJECTS:millwright_objects_${room}>)
        endif()
    endforeach()
    set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# What a library of ours is to whoever builds and links it; mw_product adds what the core needs of others.
function(mw_library_flags target)
    mw_target_flags(${target})
    mw_target_hardening(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

function(mw_product target)
    mw_library_flags(${target})
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
    if(MW_HAVE_ZLIB)
        target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
    endif()
endfunction()

# What unpacks the pictures and sounds of data sets.
function(mw_pictures target)
    foreach(library PNG JPEG)
        if(MW_HAVE_${library})
            target_link_libraries(${target} PRIVATE ${library}::${library})
        endif()
    endforeach()
    if(MW_HAVE_WEBP)
        mw_use(${target} ${MW_WEBP_LIBRARY} webp)
    endif()
    if(MW_HAVE_SNDFILE)
        mw_use(${target} ${MW_SNDFILE_LIBRARY} sndfile)
    endif()
endfunction()

# What texts are cut with.
function(mw_text_libraries target)
    if(MW_HAVE_UTF8PROC)
        mw_use(${target} ${MW_UTF8PROC_LIBRARY} utf8proc)
    endif()
    if(MW_HAVE_PCRE2)
        mw_use(${target} ${MW_PCRE2_LIBRARY} pcre2-8)
    endif()
endfunction()

# mw_use(<target> <library> <path> <package>): a library that is linked by its path here, by its name where installed.
function(mw_use target library package)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}> $<INSTALL_INTERFACE:${package}>)
endfunction()

function(mw_shared target)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    mw_export_only(${target} ${ARGN})
endfunction()

# The core. What siblings use of its inside leaves it under a version that is private to this release.
mw_objects(mw_core_objects base graph passes autograd rules mil format runtime engine)
# By name: with a wildcard a sanitized build, whose objects hide nothing, would show all of its inside.
file(GLOB_RECURSE mw_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mw_headers})
set(mw_sibling_names)
foreach(header ${mw_headers})
    file(STRINGS ${header} mw_marked REGEX "^ *MW__SIBLING ")
    string(REGEX MATCHALL "mw__[a-z0-9_]+" mw_marked "${mw_marked}") # types among them name no symbol
    list(APPEND mw_sibling_names ${mw_marked})
endforeach()
list(REMOVE_DUPLICATES mw_sibling_names)
list(JOIN mw_sibling_names ";\n        " mw_sibling_names)
configure_file(${PROJECT_SOURCE_DIR}/cmake/millwright.map.in ${PROJECT_BINARY_DIR}/millwright.map @ONLY)
add_library(millwright SHARED ${mw_core_objects})
add_library(millwright_static STATIC ${mw_core_objects})
set_target_properties(millwright_static PROPERTIES OUTPUT_NAME millwright)
foreach(target millwright millwright_static)
    mw_product(${target})
    if(MW_HAVE_PROTOBUF)
        mw_use(${target} ${MW_PROTOBUF_C_LIBRARY} protobuf-c)
    endif()
endforeach()
mw_shared(millwright ${PROJECT_BINARY_DIR}/millwright.map "mw_*" "ane_e5rt_*")
add_library(millwright::millwright ALIAS millwright)
add_library(millwright::millwright_static ALIAS millwright_static)

# mw_sibling(<name> <header> <about> <room>...): libmillwright_<name>, shared and static, beside the core of the same
# release. The one line that a new library needs in the build; tools/amalgamate.py reads it too.
set(mw_siblings)
function(mw_sibling name header about)
    mw_objects(objects ${ARGN})
    set(shared millwright_${name})
    add_library(${shared} SHARED ${objects})
    add_library(${shared}_static STATIC ${objects})
    target_link_libraries(${shared} PUBLIC millwright)
    target_link_libraries(${shared}_static PUBLIC millwright_static)
    foreach(target ${shared} ${shared}_static)
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${shared})
        mw_library_flags(${target})
        target_link_libraries(${target} PRIVATE m)
        add_library(millwright::${target} ALIAS ${target})
    endforeach()
    # It finds the core where it lies itself, also in a process that opens it alone. What it has registered stays.
    set_target_properties(${shared} PROPERTIES INSTALL_RPATH $<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>)
    target_link_options(${shared} PRIVATE $<$<PLATFORM_ID:Linux>:-Wl,-z,nodelete>)
    mw_shared(${shared} ${PROJECT_SOURCE_DIR}/cmake/sibling.map "mw_[a-z0-9]*")
    set(mw_siblings ${mw_siblings} ${name} PARENT_SCOPE)
    set(mw_header_${name} ${header} PARENT_SCOPE)
    set(mw_about_${name} ${about} PARENT_SCOPE)
endfunction()
# mw_sibling_uses(<name> <other>): one library beside the core calls another, which is made before it. The packages and
# tools/amalgamate.py bring that one, too.
function(mw_sibling_uses name other)
    target_link_libraries(millwright_${name} PUBLIC millwright_${other})
    target_link_libraries(millwright_${name}_static PUBLIC millwright_${other}_static)
    set(mw_uses_${name} ${other} PARENT_SCOPE)
endfunction()
mw_sibling(data data.h "Files as data sets, and sets made of others, beside Millwright" data)
mw_pictures(millwright_data)
mw_pictures(millwright_data_static)
mw_sibling(inspect inspect.h "What looks into programs, beside Millwright" inspect)
mw_sibling(chip chip_all.h "The ANE's compiler and its files, beside Millwright" chip cost netplist)
mw_sibling(learn learn.h "Losses and figures beyond the basics, beside Millwright" learn)
mw_sibling(ranks communicator.h "Training with several processes, beside Millwright" ranks)
mw_sibling(text text.h "Language models from the files they come in, beside Millwright" text)
foreach(target millwright_text millwright_text_static)
    mw_text_libraries(${target})
endforeach()
mw_sibling(view view.h "Pictures and reports, beside Millwright" view)
mw_sibling_uses(view inspect) # a report shows the plan of a step
if(MW_HAVE_PLIST)
    mw_use(millwright_chip ${MW_PLIST_LIBRARY} plist-2.0)
    mw_use(millwright_chip_static ${MW_PLIST_LIBRARY} plist-2.0)
endif()

# What tests link: they see the inside. With sanitizers a copy in each of 300 programs took 11 GB, so there it is one
# shared library that shows everything. libFuzzer's own part is in the program that it drives, so fuzz targets stay static.
set(mw_inside)
foreach(name ${mw_siblings})
    list(APPEND mw_inside millwright_${name}_static)
endforeach()
list(APPEND mw_inside millwright_static)
if((MW_SANITIZE OR MW_TSAN) AND NOT MW_FUZZ)
    mw_objects(mw_all_objects ${mw_rooms})
    add_library(millwright_inside SHARED ${mw_all_objects})
    mw_product(millwright_inside)
    mw_pictures(millwright_inside)
    mw_text_libraries(millwright_inside)
    target_link_libraries(millwright_inside PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
    if(MW_HAVE_PROTOBUF)
        target_link_libraries(millwright_inside PRIVATE ${MW_PROTOBUF_C_LIBRARY})
    endif()
    if(MW_HAVE_PLIST)
        target_link_libraries(millwright_inside PRIVATE ${MW_PLIST_LIBRARY})
    endif()
    set(mw_inside millwright_inside)
endif()

# The engine as an e5rt of its own: only the e5rt_* names, for other clients of that API.
file(GLOB mw_export_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/engine/surface/export/*.c)
if(mw_export_sources)
    mw_objects(mw_engine_objects base graph passes rules cost mil engine)
    add_library(millwright_e5rt SHARED ${mw_export_sources} ${mw_engine_objects})
    mw_product(millwright_e5rt)
    target_include_directories(millwright_e5rt PRIVATE ${PROJECT_SOURCE_DIR}/src)
    mw_shared(millwright_e5rt ${PROJECT_SOURCE_DIR}/cmake/millwright_e5rt.map "e5rt_*")
endif()
