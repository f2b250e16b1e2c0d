# Macros shared by the folders of the project.

# uop_add_library(NAME files... LINK libs...): a static, position independent
# library, installed and exported as Uop::NAME. What it says of MLIR or LLVM in
# LINK are the shared libraries.
function(uop_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Uop::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  add_dependencies(${name} UopHeaders ${ARG_DEPENDS})
  install(TARGETS ${name} EXPORT UopTargets ARCHIVE DESTINATION lib)
endfunction()

# uop_add_tool(NAME files... LINK libs...): an executable in bin, installed.
function(uop_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  add_dependencies(${name} UopHeaders)
  # Where the shared libraries are that the build found.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# uop_add_unittest(NAME files... LINK libs...): a GoogleTest program whose cases
# are tests of their own to ctest.
function(uop_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest
                                        GTest::gtest_main)
  add_dependencies(${name} UopHeaders)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 900)
endfunction()

# uop_add_doc(NAME td-file tblgen-flags...): writes docs/NAME.md of the build
# folder from a .td file, as part of the target uop-doc.
function(uop_add_doc name file)
  set(output ${PROJECT_BINARY_DIR}/docs/${name}.md)
  file(GLOB sources ${CMAKE_CURRENT_SOURCE_DIR}/*.td)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/docs
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I ${MLIR_INCLUDE_DIRS}
            -I ${PROJECT_SOURCE_DIR}/include
            ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${output}
    DEPENDS ${sources})
  if(NOT TARGET uop-doc)
    add_custom_target(uop-doc ALL)
  endif()
  add_custom_target(uop-doc-${name} DEPENDS ${output})
  add_dependencies(uop-doc uop-doc-${name})
endfunction()
