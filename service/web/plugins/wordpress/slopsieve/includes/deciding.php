<?php
/**
 * Sends decisions to the service, and applies the service's decisions.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// The ruling for a comment's new status; back in Pending it is undone.
const RULINGS = array(
	'approved'   => 'approve',
	'spam'       => 'reject',
	'trash'      => 'reject',
	'unapproved' => 'undo',
);
// Runs after the page was sent. WP-Cron sends the rest of a large bulk action.
const TELLING_SECONDS = 10;
const MOST_WITHDRAWN  = 10000;

add_action( 'transition_comment_status', __NAMESPACE__ . '\\note_decision', 10, 3 );
add_action( 'delete_comment', __NAMESPACE__ . '\\note_deletion', 10, 2 );
add_action( 'shutdown', __NAMESPACE__ . '\\tell_noted', 1000 );

/**
 * Note a person's decision; a schedule or another plugin makes none.
 *
 * @param string      $new_status The new status.
 * @param string      $old_status The old status.
 * @param \WP_Comment $comment    The comment.
 */
function note_decision( $new_status, $old_status, $comment ): void {
	$id = (int) $comment->comment_ID;
	if ( is_moving() || ! isset( RULINGS[ $new_status ] ) || ! get_comment_meta( $id, STATE, true ) || ! current_user_can( 'edit_comment', $id ) ) {
		return;
	}
	if ( RULINGS[ $new_status ] === ( RULINGS[ $old_status ] ?? '' ) ) {
		return;
	}
	note_ruling( $id, RULINGS[ $new_status ] );
}

/** Store a decision until the service has it. */
function note_ruling( int $id, string $ruling ): void {
	$tell = array(
		'ruling' => $ruling,
		'by'     => mb_substr( wp_get_current_user()->user_login, 0, 90 ),
		'at'     => time(),
	);
	update_comment_meta( $id, TELL, wp_slash( $tell ) );
	noted( $id );
}

/**
 * Note a permanent deletion; the service keeps comments that are deleted as spam.
 *
 * @param int         $id      Its id.
 * @param \WP_Comment $comment The comment.
 */
function note_deletion( $id, $comment ): void {
	$there = known_as( (int) $id );
	if ( '' !== $there && 'spam' !== $comment->comment_approved ) {
		note_withdrawal( $there );
	}
}

/** Return the id of a comment at the service, or an empty string if it was never sent. */
function known_as( int $id ): string {
	$there = get_comment_meta( $id, THERE, true );
	// It may have arrived without a response; then only the blog's own id is known.
	return (string) ( $there ? $there : get_comment_meta( $id, SENT_AS, true ) );
}

/** Store a withdrawal until the service has it. */
function note_withdrawal( string $there ): void {
	$withdrawn = array_slice( array_unique( array_merge( get_option( WITHDRAWN, array() ), array( $there ) ) ), -MOST_WITHDRAWN );
	update_option( WITHDRAWN, $withdrawn, false );
	noted( $there );
}

/**
 * Return what to send at the end of this request, after adding to it or clearing it.
 *
 * @param int|string|null ...$given Nothing to read, null to clear, a comment or a withdrawal to add.
 * @return array<int|string>
 */
function noted( ...$given ): array {
	static $all = array();
	if ( $given ) {
		$all = null === $given[0] ? array() : array_unique( array_merge( $all, $given ) );
	}
	return $all;
}

/** Send what was noted in this request; retry later if that fails. */
function tell_noted(): void {
	$noted = noted();
	noted( null );
	if ( $noted && function_exists( 'fastcgi_finish_request' ) ) {
		fastcgi_finish_request();
	}
	$until = time() + TELLING_SECONDS;
	foreach ( $noted as $one ) {
		$told = time() < $until && ( is_int( $one ) ? tell_of( $one ) : withdraw( $one ) );
		if ( ! $told ) {
			retry_soon();
			return;
		}
	}
}

/** Send one decision; return true if nothing is left to send. */
function tell_of( int $id ): bool {
	$tell  = get_comment_meta( $id, TELL, true );
	$there = get_comment_meta( $id, THERE, true );
	if ( ! is_array( $tell ) || REFUSED === get_comment_meta( $id, STATE, true ) ) {
		delete_comment_meta( $id, TELL );
		return true;
	}
	if ( ! $there ) {
		return false;
	}
	$path   = '/v1/comments/' . rawurlencode( $there ) . '/decision';
	$body   = array(
		'ruling'     => $tell['ruling'],
		'decided_by' => '' !== $tell['by'] ? $tell['by'] : 'WordPress',
	);
	$answer = 'undo' === $tell['ruling'] ? ask_service( 'DELETE', $path ) : ask_service( 'POST', $path, $body );
	if ( ! is_final( $answer ) ) {
		return false;
	}
	wp_cache_delete( $id, 'comment_meta' );
	if ( get_comment_meta( $id, TELL, true ) === $tell ) {
		delete_comment_meta( $id, TELL );
	}
	return true;
}

/** Withdraw a deleted comment at the service; return true if nothing is left to send. */
function withdraw( string $there ): bool {
	$path = 0 === strpos( $there, 'wp-' ) ? '/v1/comments?site_comment_id=' : '/v1/comments/';
	if ( ! is_final( ask_service( 'DELETE', $path . rawurlencode( $there ) ) ) ) {
		return false;
	}
	update_option( WITHDRAWN, array_values( array_diff( get_option( WITHDRAWN, array() ), array( $there ) ) ), false );
	return true;
}

/**
 * Apply the service's current state to a comment, unless a later decision was made here.
 *
 * The case is read again, so that repeated, late or reordered messages are harmless.
 * Return true if the service responded.
 */
function agree( int $id ): bool {
	$there = (string) get_comment_meta( $id, THERE, true );
	if ( '' === $there ) {
		return tell_of( $id );
	}
	$answer = ask_service( 'GET', '/v1/comments/' . rawurlencode( $there ) );
	if ( ! is_case( $answer ) ) {
		if ( is_unknown( $answer ) ) {
			delete_comment_meta( $id, TELL );
		}
		return is_final( $answer );
	}
	$case = $answer['body'];
	$tell = get_comment_meta( $id, TELL, true );
	if ( is_array( $tell ) ) {
		if ( last_ruled_at( $case ) <= $tell['at'] ) {
			return tell_of( $id );
		}
		delete_comment_meta( $id, TELL );
	}
	keep_verdict( $id, JUDGED, summary_of( $case, get_comment( $id ) ) );
	move( $id, place_of( $id, $case ) );
	return true;
}

/** Return the time of the case's last decision or undo, in Unix seconds; 0 if there is none. */
function last_ruled_at( array $case ): int {
	$last = 0;
	foreach ( (array) ( $case['decisions'] ?? array() ) as $one ) {
		$last = max( $last, (int) strtotime( (string) $one['decided_at'] ), (int) strtotime( (string) ( $one['undone_at'] ?? '' ) ) );
	}
	return $last;
}
