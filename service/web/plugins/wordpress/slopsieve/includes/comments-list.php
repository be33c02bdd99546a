<?php
/**
 * Shows verdicts with reasons and marked text in the comments list.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const COLUMN        = 'slopsieve';
const CONTEXT_CHARS = 40;
const MARKED_CHARS  = 200;
const MOST_SHOWN    = 3;

add_filter( 'manage_edit-comments_columns', __NAMESPACE__ . '\\add_column' );
add_action( 'manage_comments_custom_column', __NAMESPACE__ . '\\print_column', 10, 2 );
add_action( 'admin_notices', __NAMESPACE__ . '\\tell_who_waits' );

/**
 * Add the column.
 *
 * @param string[] $columns The other columns.
 */
function add_column( $columns ) {
	$columns[ COLUMN ] = __( 'Slopsieve', 'slopsieve' );
	return $columns;
}

/**
 * Print a comment's verdict.
 *
 * @param string $column The column.
 * @param int    $id     The comment.
 */
function print_column( $column, $id ): void {
	if ( COLUMN !== $column ) {
		return;
	}
	if ( WAITING === get_comment_meta( $id, STATE, true ) ) {
		esc_html_e( 'Waits for its verdict: the service did not answer yet.', 'slopsieve' );
		return;
	}
	$verdict = get_comment_meta( $id, VERDICT, true );
	if ( ! is_array( $verdict ) ) {
		return;
	}
	echo '<strong>' . esc_html( headline( $verdict ) ) . '</strong>';
	if ( get_comment_meta( $id, TELL, true ) ) {
		echo ' ' . esc_html__( '(your decision is still to be told)', 'slopsieve' );
	}
	foreach ( marked_parts( $verdict, get_comment( $id ) ) as $part ) {
		echo '<p>' . wp_kses( $part, array( 'mark' => array() ) ) . '</p>';
	}
	if ( ! empty( $verdict['reasons'] ) ) {
		echo '<ul><li>' . implode( '</li><li>', array_map( 'esc_html', $verdict['reasons'] ) ) . '</li></ul>';
	}
}

/** Return the verdict in a few words. */
function headline( array $verdict ): string {
	$words = array(
		'ham'    => __( 'Ham', 'slopsieve' ),
		'unsure' => __( 'Unsure: please look', 'slopsieve' ),
		'spam'   => __( 'Spam', 'slopsieve' ),
	);
	if ( ! isset( $verdict['outcome'], $words[ $verdict['outcome'] ] ) ) {
		return __( 'Not judged: please look', 'slopsieve' );
	}
	/* translators: 1: Ham, Unsure or Spam. 2: a percentage. */
	return sprintf( __( '%1$s (%2$s %% spam)', 'slopsieve' ), $words[ $verdict['outcome'] ], number_format_i18n( 100 * $verdict['p_spam'], 1 ) );
}

/**
 * Return excerpts with marked evidence as HTML; none if the text was edited since.
 *
 * @return string[]
 */
function marked_parts( array $verdict, \WP_Comment $comment ): array {
	$text = text_of( $comment );
	if ( md5( $text ) !== ( $verdict['of'] ?? '' ) ) {
		return array();
	}
	$parts = array();
	foreach ( array_slice( $verdict['spans'], 0, MOST_SHOWN ) as list( $start, $end ) ) {
		$from    = max( 0, $start - CONTEXT_CHARS );
		$parts[] = sprintf(
			'%s%s<mark>%s</mark>%s',
			$from > 0 ? '…' : '',
			esc_html( mb_substr( $text, $from, $start - $from ) ),
			esc_html( mb_substr( $text, $start, min( MARKED_CHARS, $end - $start ) ) ),
			esc_html( mb_substr( $text, $end, CONTEXT_CHARS ) )
		);
	}
	return $parts;
}

/** Print a notice above the comments list if comments wait for the service. */
function tell_who_waits(): void {
	$screen = get_current_screen();
	if ( ! $screen || 'edit-comments' !== $screen->id || ! current_user_can( 'moderate_comments' ) ) {
		return;
	}
	$waiting = count( waiting_ids( MOST_A_RUN ) );
	if ( $waiting ) {
		/* translators: %d: a number of comments. */
		$words = _n( '%d comment waits in Pending for its verdict: Slopsieve did not answer yet.', '%d comments wait in Pending for their verdicts: Slopsieve did not answer yet.', $waiting, 'slopsieve' );
		printf( '<div class="notice notice-warning"><p>%s</p></div>', esc_html( sprintf( $words, $waiting ) ) );
		retry_soon();
	}
}
